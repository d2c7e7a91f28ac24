"""The part of the Amazon States Language that our state machines use; it knows no AWS."""
