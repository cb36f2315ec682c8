"""The adversary: random requests, a judge that knows nothing of kohort, and releases that were tampered with."""
