"""Tables in memory, and ways to query them."""

from tables import ask, catalogue, objects, rates, refusal, run, value  # noqa: F401
