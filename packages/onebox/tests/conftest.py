"""The session of the tests, as that of cwli."""

import fuzzing  # noqa: F401 (it loads the profile of Hypothesis)
import surroundings  # noqa: F401 (it resets signals and environment)
