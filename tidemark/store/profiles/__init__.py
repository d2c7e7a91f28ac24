"""Profiles as they are stored, and the reader of folded stacks that others wrote."""
