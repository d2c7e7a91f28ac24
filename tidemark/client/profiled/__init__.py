"""Readers of profiles that other profilers and their pictures have: as folded stacks."""
