"""Faults in starts of runs: duplicate, simultaneous and repeated starts."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.system.faults.catalogue.services import invocations
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import Ground
from tests.system.faults.wire import error_answer, slow
from tidemark.client.runs import Run
from tidemark.store.run_objects import all_trials


def _at_once(ground: Ground) -> list[Run]:
    with ground.wire.fault(invocations("PrepareTrial"), slow(3), times=1, after=1):
        first = ground.start(repetitions=2)
        ground.until(lambda: list(all_trials(ground.client.bucket, first.run_id)))
        second = ground.wait_for_end(ground.start())
    return [ground.wait_for_end(first), second]


def _delivered_twice(ground: Ground) -> list[Run]:
    moment = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    first = ground.start(scheduled_at=moment, trigger="schedule")
    ground.wait_for_end(first)
    second = ground.wait_for_end(ground.start(scheduled_at=moment, trigger="schedule"))
    return [ground.with_planned_id(first), second]


def _finished(ground: Ground) -> list[Run]:
    run = ground.run()
    return [run, ground.wait_for_refusal(ground.start(run=run.run_id))]


def _unknown(ground: Ground) -> list[Run]:
    return [ground.wait_for_refusal(ground.start(run="20200101T000000Z-000000"))]


def _resumed_twice(ground: Ground) -> list[Run]:
    with ground.wire.held(invocations("PrepareTrial"), after=1) as arrived:
        run = ground.start(repetitions=2)
        arrived.wait()
        ground.stop(run.execution_arn)
    ground.wait_for_outcome(run)
    with ground.wire.held(invocations("ChooseTrial")) as arrived:
        again = ground.start(run=run.run_id)
        arrived.wait()
        refusal = ground.wait_for_refusal(ground.start(run=run.run_id))
        ground.stop(again.execution_arn)
    return [ground.wait_for_outcome(run), refusal]


def _undelivered(ground: Ground) -> list[Run]:
    with ground.wire.fault("^states StartExecution", error_answer(500, "ServiceException")):
        ground.be_due()
        ground.until(ground.undelivered)
    return []


FAULTS = (
    Fault(
        name="start-undelivered",
        happens="Step Functions fails at a scheduled start; a queue keeps the undelivered start",
        act=_undelivered,
        endings=(),
        target="test",
    ),
    Fault(
        name="two-at-once",
        happens="a run is started while another run of its suite is in progress",
        act=_at_once,
        endings=(
            Ending("complete", "", 4),
            Ending(
                "rejected",
                "suite: scripted is being measured by run … since … UTC; wait for its end, or end "
                "it with `tidemark stop …`, execution …",
            ),
        ),
        target="systems",
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
        happens="a run without missing trials is resumed",
        act=_finished,
        endings=(
            Ending("complete", "", 2),
            Ending("rejected", "run: … has no missing trial; every trial is recorded"),
        ),
    ),
    Fault(
        name="resumed-unknown",
        happens="a run that does not exist is resumed",
        act=_unknown,
        endings=(Ending("rejected", "run: … is not known; its plan is not in the results bucket"),),
    ),
    Fault(
        name="resumed-at-once",
        happens="a run is resumed again during a resume; the first resume is then stopped",
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
