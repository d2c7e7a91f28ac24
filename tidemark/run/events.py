"""Inputs that several functions take from the states."""

from pydantic import BaseModel


class RunEvent(BaseModel):
    """A run, by its id."""

    run_id: str


class TrialEvent(RunEvent):
    """One trial of a run."""

    trial: int
