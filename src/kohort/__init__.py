"""kohort."""
