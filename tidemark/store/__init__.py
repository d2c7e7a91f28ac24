"""The contents of the results bucket: keys, rows and columns."""
