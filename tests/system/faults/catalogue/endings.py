"""Faults in ending dead runs: EndRun gets no event, and the trial of the run continues."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.system.faults.catalogue.services import invocations, kill_for_memory
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import SUITE, Ground
from tests.system.faults.wire import error_answer
from tidemark.cli.decisions import record_exclusion
from tidemark.client.runs import Run

_TWICE = {"repetitions": 2, "tasks": 1}
# Every trial has the same rates: a resume ends after five repetitions.
_UNTIL_DECIDED = {
    "versions": ["healthy", "healthy-too"], "baseline": "healthy", "until": "decided",
    "repetitions": 5, "tasks": 1,
}  # fmt: skip
_FAILS = error_answer(500, "ServiceException")


def _unheard(
    fields: Mapping[str, object],
    mark: Callable[[Ground, Run], None],
    end: Callable[[Ground], list[Run]],
    **reason: str,
) -> Callable[[Ground], list[Run]]:
    """Return a function that stops a run in its second trial; the trial continues until ``end``.

    The run was stopped once before and resumed. The first trial gets a mark meanwhile, as a user
    may set at any time; the mark changes nothing.
    """

    def act(ground: Ground) -> list[Run]:
        wire = ground.wire
        with wire.held(invocations("PrepareTrial")) as arrived:
            first = ground.start(**fields, budget_usd=1)
            arrived.wait()
            ground.stop(first.execution_arn)
        ground.wait_for_outcome(first)
        with ground.without_events(), wire.held("^s3 PUT .*/data/", after=1) as arrived:
            run = ground.start(run=first.run_id)
            arrived.wait()
            mark(ground, run)
            # The first call stops the run; the second would stop its trial.
            with wire.fault("^states StopExecution", _FAILS, times=1, after=1):
                ground.stop(run.execution_arn, **reason)
                ground.wait_for_end(run)
            with wire.fault("^ecs StopTask", _FAILS, times=1):
                others = end(ground)
        return [ground.wait_for_outcome(run), *others]

    return act


def _included(ground: Ground, run: Run) -> None:
    ground.include(run, 1)


def _excluded_and_included(ground: Ground, run: Run) -> None:
    for excluded in (True, False):
        record_exclusion(ground.app, run.run_id, 1, "a second look", excluded=excluded)


def _swept(ground: Ground) -> list[Run]:
    ground.sweep()
    return []


def _swept_again(ground: Ground) -> list[Run]:
    kill_for_memory(ground, "SweepRuns", times=1)
    ground.sweep()
    ground.sweep()
    return []


def _found_by_the_next(ground: Ground) -> list[Run]:
    ground.release("healthy")
    run = ground.wait_for_end(ground.start(versions=["newest"]))
    # The comparison also reads the stopped run, with its excluded and included trial.
    ground.app.publisher.comparison(SUITE, "healthy", run.run_id)
    return [run]


FAULTS = (
    Fault(
        name="end-unheard-until-swept",
        happens="a run until decided is stopped without an event; its trial continues until the "
        "sweep",
        # The run then has a rate of one version and none of the other.
        act=_unheard(_UNTIL_DECIDED, _included, _swept),
        endings=(Ending("aborted", "stopped: by hand", 2),),
        target="test",
    ),
    Fault(
        name="sweep-runs-out-of-memory",
        happens="a run is stopped without an event; the first sweep is killed for lack of memory",
        act=_unheard(_TWICE, _included, _swept_again),
        endings=(Ending("aborted", "stopped: by hand", 2),),
    ),
    Fault(
        name="end-unheard-until-next",
        happens="a run is stopped without event and reason; its trial continues until the next run",
        act=_unheard(_TWICE, _excluded_and_included, _found_by_the_next, error=""),
        endings=(
            Ending("aborted", "stopped: no reason was given", 2),
            Ending("complete", "", 2),
        ),
        target="test",
    ),
)
