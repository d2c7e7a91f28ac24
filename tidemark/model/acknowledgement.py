"""Acknowledgements of changes of level: the new level is accepted, with a reason, until a day."""

from datetime import date, datetime

from tidemark.model.frozen import Frozen


class Acknowledgement(Frozen):
    """The last decision on a change of a metric's level."""

    reason: str
    until: date
    """The last day, in UTC, on which the new level is accepted."""
    at: datetime
