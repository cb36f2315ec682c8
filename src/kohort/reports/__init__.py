"""What is said about tables and releases: loss, comparisons, reasons, proposals."""
