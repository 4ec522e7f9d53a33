"""From the journal to tables. Pandas and numpy are first imported here."""
