"""From the journal to tables; pandas and numpy start here."""
