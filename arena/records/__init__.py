"""What happened: records, the journal, evidence of faults."""
