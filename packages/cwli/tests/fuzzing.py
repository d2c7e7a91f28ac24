"""Random tests: `make systems` draws every example, `make test` a fifth of them.

Hypothesis derives the examples from the test itself, so every run draws the same examples.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("tests", deadline=None, derandomize=True, database=None)
settings.register_profile("systems", settings.get_profile("tests"))
settings.load_profile("tests")
_SHARE = 5


def fuzz(examples: int) -> Callable[..., pytest.MarkDecorator]:
    """Return a decorator of a test that Hypothesis gives random arguments."""
    whole = settings.get_current_profile_name() == "systems"
    drawn = settings(
        max_examples=examples if whole else examples // _SHARE,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    return lambda test: pytest.mark.fuzz(drawn(test))
