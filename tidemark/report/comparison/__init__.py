"""The comparison of a new version with a base, written as a performance engineer would."""
