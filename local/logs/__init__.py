"""The store of log events."""
