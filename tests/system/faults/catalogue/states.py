"""Faults that end a run in each of its states, by a stop or a kill of the cloud's process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.system.faults.catalogue.services import invocations
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import Ground
from tidemark.client.runs import Run


@dataclass(frozen=True)
class _State:
    """State, with its call and the number of such calls in the first of two trials."""

    name: str
    calls: str
    after: int
    in_trial: bool = False
    measured: bool = False
    """Whether the tests of the trial are measured before this state."""
    ending: Ending | None = None
    """Ending of a run that ends here, None if the run keeps the first trial's rates."""


_COMPLETE = Ending("complete", "", 4)
_STATES = (
    _State("PlanRun", invocations("PlanRun"), 0, ending=Ending("")),
    _State("ChooseTrial", invocations("ChooseTrial"), 1),
    _State("PrepareTrial", invocations("PrepareTrial"), 1, in_trial=True),
    _State("RunTask", "^s3 PUT .*/data/", 2, in_trial=True),
    _State("CollectRates", invocations("CollectRates"), 2, in_trial=True),
    _State("CleanUpTrial", invocations("CleanUpTrial"), 1, in_trial=True, measured=True),
    _State("RecordTrial", invocations("RecordTrial"), 1, in_trial=True, measured=True),
    _State("RecordRates", invocations("RecordRates"), 0, ending=_COMPLETE),
    _State("PublishReport", invocations("PublishReport"), 0, ending=_COMPLETE),
    _State("RecordOutcome", invocations("RecordOutcome"), 0, ending=_COMPLETE),
    _State("Announcement", "^sns ", 0, ending=_COMPLETE),
)
_STOPPED = Ending("aborted", "stopped: by hand", 2)
_GONE = Ending("aborted", "its execution is gone; the process or service that ran it ended", 2)


def _stopped(state: _State, *, trial: bool) -> Callable[[Ground], list[Run]]:
    """Return a function that stops a run, or its second trial, in a state."""

    def act(ground: Ground) -> list[Run]:
        client = ground.client
        with ground.wire.held(state.calls, state.after) as arrived:
            run = ground.start(repetitions=2)
            arrived.wait()
            arn = client.trial_arn(run, 2) if trial else run.execution_arn
            ground.stop(arn)
            ground.wait_for_end(run)
            if state.name != "PlanRun":
                ground.wait_for_outcome(run)
        return [run]

    return act


def _killed(state: _State) -> Callable[[Ground], list[Run]]:
    """Return a function that kills the process of a run's cloud in a state."""

    def act(ground: Ground) -> list[Run]:
        run = ground.start_and_kill(state.calls, state.after, repetitions=2)
        return [run if state.name == "PlanRun" else ground.wait_for_outcome(run)]

    return act


def _hyphenated(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


def _faults() -> Iterator[Fault]:
    for state in _STATES:
        yield Fault(
            name=f"stopped-in-{_hyphenated(state.name)}",
            happens=f"StopExecution of the run in {state.name}",
            act=_stopped(state, trial=False),
            endings=(state.ending or _STOPPED,),
            target="test" if state.name == "RunTask" else "faults",
        )
    for state in _STATES:
        if state.in_trial:
            lost = (
                "1 of 2 trials did not give all rates; the first is trial 2 (healthy): "
                "the trial's execution ended with States.TaskFailed: Stopped: by hand"
            )
            yield Fault(
                name=f"trial-stopped-in-{_hyphenated(state.name)}",
                happens=f"StopExecution of the trial in {state.name}",
                act=_stopped(state, trial=True),
                endings=(_COMPLETE if state.measured else Ending("incomplete", lost, 2),),
                target="test" if state.name in ("RunTask", "CleanUpTrial") else "faults",
            )
    for state in _STATES:
        yield Fault(
            name=f"killed-in-{_hyphenated(state.name)}",
            happens=f"SIGKILL of the cloud's process in {state.name}, then a new start",
            act=_killed(state),
            endings=(state.ending or _GONE,),
        )


FAULTS = tuple(_faults())
