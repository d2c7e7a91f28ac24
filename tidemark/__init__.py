"""Measurements of the versions of a system, and comparisons between them."""

# The plan of each run records this version.
__version__ = "0.2.0"
