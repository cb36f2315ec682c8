"""A release beside earlier ones: what the ledger knows."""
