"""Tables and records as files and text."""
