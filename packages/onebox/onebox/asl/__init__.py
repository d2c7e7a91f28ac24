"""The part of the Amazon States Language that Tidemark's state machines use, without AWS."""
