"""Verdicts on the pairs of two versions' trials: slower, faster, same or cannot tell."""
