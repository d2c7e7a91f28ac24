"""A new cloud for each test; its fixtures come from the module `clouds`."""

from clouds import answer, endpoint, guard, logs, server, store  # noqa: F401
