"""Profiles of CPU time: their call trees, shares of functions, and what grew between versions."""
