"""What holds for all tests: generated cases are the same every time, and none is timed."""

from hypothesis import settings

settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")
