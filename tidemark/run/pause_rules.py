"""PauseRules: rules of an instance that are disabled during a trial, and the record of them."""

import json
from collections.abc import Sequence

from tidemark.model.refusal import Refused
from tidemark.run.events import TrialEvent
from tidemark.run.ports import Rules
from tidemark.store import keys
from tidemark.store.bucket import Bucket

_ENABLED, _DISABLED = "ENABLED", "DISABLED"


class PauseRulesEvent(TrialEvent):
    """A step of a trial that pauses rules."""

    rules: tuple[str, ...]


def pause(bucket: Bucket, rules: Rules, run_id: str, names: Sequence[str]) -> None:
    """Disable rules; a record of those that were enabled is stored before.

    A second call adds to the record: the rules that the first call disabled stay in it.

    Raises
    ------
    Refused
        If there is no rule of a name, or it has a state that nothing could restore; then no rule is
        disabled.

    """
    states = {name: rules.state(name) for name in names}
    for name, state in states.items():
        if state not in (_ENABLED, _DISABLED):
            there_is = (
                f"the state of rule {name} is {state}" if state else f"there is no rule {name}"
            )
            raise Refused(f"pause: {there_is}; expected a rule that is {_ENABLED} or {_DISABLED}")
    running = [name for name in names if states[name] == _ENABLED]
    record = keys.restore(run_id)
    bucket.write(record, json.dumps(sorted({*_paused(bucket, run_id), *running})).encode())
    for name in running:
        rules.disable(name)
    # An end of the run replays the record and deletes it. It may overtake this loop.
    if bucket.find(record) is None:
        for name in running:
            rules.enable(name)


def resume(bucket: Bucket, rules: Rules, run_id: str) -> None:
    """Enable the rules that a run has paused; a second call changes nothing."""
    for name in _paused(bucket, run_id):
        rules.enable(name)
    bucket.discard(keys.restore(run_id))


def _paused(bucket: Bucket, run_id: str) -> Sequence[str]:
    found = bucket.find(keys.restore(run_id))
    names: Sequence[str] = json.loads(found.body) if found else ()
    return names
