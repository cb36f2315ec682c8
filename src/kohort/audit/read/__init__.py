"""How the auditor reads files."""
