"""What the arena does for programs: it plays, rates, compares and checks; it never prints."""
