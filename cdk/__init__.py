"""The stack: one file per capability, and the two state machines."""
