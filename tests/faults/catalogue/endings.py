"""Faults of whoever ends a run that has died: nobody tells it, and what the run began goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from local.following import Run
from tests.faults.catalogue.services import invocations
from tests.faults.fault import Ending, Fault
from tests.faults.ground import SUITE, Ground
from tests.faults.wire import refused

_FAILS = refused(500, "ServiceException")


def _unheard(
    asked: Mapping[str, object],
    mark: Callable[[Ground, Run], None],
    end: Callable[[Ground], list[Run]],
    **why: str,
) -> Callable[[Ground], list[Run]]:
    """Return what stops a run of two trials in its second, which goes on, and then has it ended.

    The run was stopped once before, and is resumed. Its first trial is marked meanwhile, as
    anybody may at any time; the mark changes nothing.
    """

    def act(ground: Ground) -> list[Run]:
        wire = ground.wire
        with wire.held(invocations("PrepareTrial")) as arrived:
            first = ground.start(**asked, budget_usd=1)
            arrived.wait()
            ground.stop(first.execution_arn)
        ground.settled(first)
        with ground.deaf(), wire.held("^s3 PUT .*/data/", after=2) as arrived:
            run = ground.start(run=first.run_id)
            arrived.wait()
            mark(ground, run)
            # The first call is the one that stops the run, the next would stop its trial.
            with wire.fault("^states StopExecution", _FAILS, times=1, after=1):
                ground.stop(run.execution_arn, **why)
                ground.ended(run)
            with wire.fault("^ecs StopTask", _FAILS, times=1):
                ended = end(ground)
        return [ground.settled(run), *ended]

    return act


def _included(ground: Ground, run: Run) -> None:
    ground.include(run, 1)


def _looked_at_twice(ground: Ground, run: Run) -> None:
    for excluded in (True, False):
        ground.client.results.mark(run.run_id, 1, "a second look", excluded=excluded)


def _swept(ground: Ground) -> list[Run]:
    ground.sweep()
    return []


def _found_by_the_next(ground: Ground) -> list[Run]:
    ground.release("healthy")
    run = ground.ended(ground.start(versions=["newest"]))
    # With the run that was stopped, excluded from and resumed.
    ground.client.results.compare(SUITE, "healthy", run.run_id)
    return [run]


FAULTS = (
    Fault(
        name="end-unheard-until-swept",
        happens="a run is stopped of which nobody is told; its trial goes on until the sweep",
        # Of one version it has a rate then, and of the other none.
        act=_unheard({"versions": ["healthy", "healthy-too"]}, _included, _swept),
        endings=(Ending("aborted", "stopped: by hand", 2),),
        quick=True,
    ),
    Fault(
        name="end-unheard-until-next",
        happens="a run is stopped without a word; its trial goes on until the next run",
        act=_unheard({"repetitions": 2}, _looked_at_twice, _found_by_the_next, error=""),
        endings=(
            Ending("aborted", "stopped: no reason was given", 2),
            Ending("complete", "", 2),
        ),
        quick=True,
    ),
)
