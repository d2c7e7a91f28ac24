"""A new cloud for each test; its fixtures are those of module `clouds`."""

from clouds import answer, endpoint, guard, logs, server, store  # noqa: F401
