"""The wait of a step until nothing is left to do: queues are empty, or tasks have stopped."""

from collections.abc import Callable, Mapping

from tidemark.model.sentences import plural
from tidemark.model.steps import WaitUntil
from tidemark.run.condition import CheckedCondition, ConditionEvent, read_again
from tidemark.run.ports import Backlog

# Amazon SQS API reference, GetQueueAttributes: the numbers of messages are approximate, so that one
# reading may find no message in a queue that has some.
_READINGS = 3
QUEUE, CLUSTER = "queue", "cluster"
_ENTRIES = {QUEUE: "message", CLUSTER: "task"}

Backlogs = Mapping[str, Callable[[], Backlog]]
"""The source of each kind of backlog, ``queue`` and ``cluster``."""


def check_backlog(backlogs: Backlogs, wait: WaitUntil, event: ConditionEvent) -> CheckedCondition:
    """Return whether enough readings in sequence found nothing left, or how long to wait."""
    kind = QUEUE if wait.queues else CLUSTER
    # A queue that the instance lacks has no name, and nothing is left in it.
    names = list(filter(None, event.awaited.split(",")))
    lefts = {_shown(kind, name): backlogs[kind]().left(name) for name in names}
    if missing := [named for named, left in lefts.items() if left is None]:
        why = f"step {event.step}: there is no {missing[0]}"
        return CheckedCondition(over=True, stopped_by=why, bytes_scanned=event.bytes_scanned)
    holds, needed = (0 if any(lefts.values()) else event.holds + 1), wait.readings or _READINGS
    if holds >= needed or not names:
        return CheckedCondition(over=True, bytes_scanned=event.bytes_scanned, holds=holds)
    named, left = max(lefts.items(), key=lambda entry: entry[1] or 0)
    why = f"{named} has {plural(left or 0, _ENTRIES[kind])} left after {wait.within_seconds} s"
    why += f", but only at {holds} of {needed} readings in sequence" if holds else ""
    return read_again(wait, event, why).model_copy(update={"holds": holds})


def _shown(kind: str, name: str) -> str:
    """Return the kind and the plain name of a queue or of a cluster, which may be an ARN."""
    return f"{kind} {name.rsplit('/', 1)[-1]}"
