"""Attacks on the one-machine cloud: by a task, by another user, by statements and by files."""
