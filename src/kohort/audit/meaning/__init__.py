"""What published values mean to the auditor."""
