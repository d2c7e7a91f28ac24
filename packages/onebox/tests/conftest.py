"""The session of the tests, like cwli's."""

import fuzzing  # noqa: F401 (it loads the profile of Hypothesis)
import surroundings  # noqa: F401 (it resets signals and environment)
