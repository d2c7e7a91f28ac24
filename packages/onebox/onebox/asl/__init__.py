"""The part of the Amazon States Language that the one-machine cloud interprets."""
