"""The lab of state machines."""

from state_machines import lab  # noqa: F401
