"""A new cloud for each test; its fixtures come from the module `clouds`."""

from clouds import (  # noqa: F401
    answer,
    endpoint,
    formation,
    guard,
    has_ended,
    logs,
    server,
    store,
)
