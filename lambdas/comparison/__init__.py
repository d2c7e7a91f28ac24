"""The comparison of a new version with a base: what a performance engineer would write of it."""
