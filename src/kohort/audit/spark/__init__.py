"""The auditor on Spark."""
