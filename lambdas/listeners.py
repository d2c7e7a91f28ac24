"""The receivers of a run's outcome, which RecordOutcome, EndRun and SweepRuns share."""

from __future__ import annotations

from lambdas import services
from lambdas.environment import Environment
from tidemark.run.announcing import Listeners
from tidemark.run.links import ObjectLinks


def listeners() -> Listeners:
    """Return the topic, bus and metric of this function's stack, with links to its bucket."""
    return Listeners(services.topic(), services.bus(), services.metrics(), links(Environment()))


def links(environment: Environment) -> ObjectLinks:
    """Return the links to objects of the results bucket."""
    # AWS SDKs and Tools Reference, "Service-specific endpoints": only the one-machine cloud sets
    # this variable, and it has no console.
    in_console = environment.endpoint_url is None
    return ObjectLinks(environment.bucket, environment.region, in_console=in_console)
