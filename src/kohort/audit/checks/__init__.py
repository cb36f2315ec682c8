"""What the auditor checks."""
