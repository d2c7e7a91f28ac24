"""Tidemark in the one-machine cloud: the app, its stored results and their repair."""
