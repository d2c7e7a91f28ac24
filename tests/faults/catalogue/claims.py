"""Faults of whoever starts runs: twice, at once, or again."""

from __future__ import annotations

from datetime import UTC, datetime

from local.following import Run
from tests.faults.catalogue.services import invocations
from tests.faults.fault import Ending, Fault
from tests.faults.ground import Ground
from tests.faults.wire import refused, slow


def _at_once(ground: Ground) -> list[Run]:
    with ground.wire.fault(invocations("PrepareTrial"), slow(3), times=1, after=1):
        first = ground.start(repetitions=2)
        ground.until(lambda: list(ground.client.results.trials(first.run_id)))
        second = ground.ended(ground.start())
    return [ground.ended(first), second]


def _delivered_twice(ground: Ground) -> list[Run]:
    moment = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    first = ground.start(scheduled_at=moment, trigger="schedule")
    ground.ended(first)
    second = ground.ended(ground.start(scheduled_at=moment, trigger="schedule"))
    return [ground.planned_by(first), second]


def _finished(ground: Ground) -> list[Run]:
    run = ground.run()
    return [run, ground.refused(ground.start(run=run.run_id))]


def _unknown(ground: Ground) -> list[Run]:
    return [ground.refused(ground.start(run="20200101T000000Z-000000"))]


def _resumed_twice(ground: Ground) -> list[Run]:
    with ground.wire.held(invocations("PrepareTrial"), after=1) as arrived:
        run = ground.start(repetitions=2)
        arrived.wait()
        ground.stop(run.execution_arn)
    ground.settled(run)
    with ground.wire.held(invocations("ChooseTrial")) as arrived:
        again = ground.start(run=run.run_id)
        arrived.wait()
        refused = ground.refused(ground.start(run=run.run_id))
        ground.stop(again.execution_arn)
    return [ground.settled(run), refused]


def _undelivered(ground: Ground) -> list[Run]:
    with ground.wire.fault("^states StartExecution", refused(500, "ServiceException")):
        ground.be_due()
        ground.until(ground.undelivered)
    return []


FAULTS = (
    Fault(
        name="start-undelivered",
        happens="Step Functions fails whenever a schedule would start a run, which is then kept",
        act=_undelivered,
        endings=(),
        quick=True,
    ),
    Fault(
        name="two-at-once",
        happens="a run is started while another of its suite goes on",
        act=_at_once,
        endings=(
            Ending("complete", "", 4),
            Ending(
                "rejected",
                "suite: scripted is being measured by run … since … UTC; wait for its end, or end "
                "it with `tidemark stop …`, execution …",
            ),
        ),
        quick=True,
    ),
    Fault(
        name="delivered-twice",
        happens="a schedule starts the same run twice",
        act=_delivered_twice,
        endings=(
            Ending("complete", "", 2),
            Ending(""),
        ),
    ),
    Fault(
        name="resumed-when-finished",
        happens="a run is resumed of which nothing is missing",
        act=_finished,
        endings=(
            Ending("complete", "", 2),
            Ending("rejected", "run: nothing is missing of …; every trial is recorded"),
        ),
    ),
    Fault(
        name="resumed-unknown",
        happens="a run is resumed that never was",
        act=_unknown,
        endings=(Ending("rejected", "run: … is not known; its plan is not in the results bucket"),),
    ),
    Fault(
        name="resumed-at-once",
        happens="a run is resumed while its resume goes on, which is then stopped",
        act=_resumed_twice,
        endings=(
            Ending("aborted", "stopped: by hand", 2),
            Ending(
                "rejected",
                "suite: scripted is being measured by run … since … UTC; wait for its end, or end "
                "it with `tidemark stop …`, execution …",
            ),
        ),
    ),
)
