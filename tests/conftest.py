"""What holds for all tests: generated cases are the same every time, and none is timed."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")

WHOLE_CLOUDS = {"end_to_end", "faults"}


def pytest_collection_modifyitems(items):
    """Put the tests of whole clouds in one process and all others in a second, when two are given.

    Clouds are dear to start and share one run; the two groups take about as long as each other.
    """
    for item in items:
        layer = item.path.relative_to(Path(__file__).parent).parts[0]
        group = "clouds" if layer in WHOLE_CLOUDS else "layers"
        item.add_marker(pytest.mark.xdist_group(group))
