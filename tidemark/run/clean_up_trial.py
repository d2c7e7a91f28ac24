"""CleanUpTrial: enable the rules that a trial paused, and delete its data."""

from collections.abc import Callable

from tidemark.run.events import TrialEvent
from tidemark.run.pause_rules import resume
from tidemark.run.ports import Rules
from tidemark.store import keys
from tidemark.store.bucket import Bucket, delete_what_is_possible


class CleanUpTrialEvent(TrialEvent):
    """A trial that has ended."""

    paused: bool = False
    """Whether a step of the trial has begun to pause rules."""


def clean_up_trial(bucket: Bucket, rules: Callable[[], Rules], event: CleanUpTrialEvent) -> None:
    """Enable the rules that a trial paused, if any, and delete the data that its tasks stored."""
    if event.paused:
        resume(bucket, rules(), event.run_id)
    delete_what_is_possible(bucket, keys.data(event.run_id, event.trial))
