"""The Lambda handlers: one for each Task state, and the handlers that are called from outside."""
