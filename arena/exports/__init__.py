"""Turns tables and records into files and text."""
