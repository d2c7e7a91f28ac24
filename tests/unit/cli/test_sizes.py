"""Output of `tidemark sizes`."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import planned
from tests.unit.sized_runs import sized_plan, sized_trials
from tidemark.cli import sizes
from tidemark.store import keys


@pytest.fixture
def printed(monkeypatch):
    """Return a function that prints the sizes of a run."""

    def printed(plan, trials, *options):
        objects = {keys.plan(RUN): plan.model_dump_json().encode()}
        for trial in trials:
            objects[keys.trial(RUN, trial.trial)] = trial.model_dump_json().encode()

        @contextmanager
        def stored(_target):
            yield SimpleNamespace(bucket=FakeBucket(objects))

        monkeypatch.setattr(sizes, "stored", stored)
        return CliRunner().invoke(sizes.command, [RUN, *options])

    return printed


def test_the_table_says_which_sizes_hold_and_why_others_do_not(printed):
    plan = sized_plan()

    lines = printed(plan, sized_trials(plan)).stdout.splitlines()

    words = [line.split() for line in lines[3:6]]
    assert [row[2:6] for row in words] == [
        ["half", "0.5", "1024", "93"], ["one", "1", "2048", "68"], ["two", "2", "4096", "37"]
    ]  # fmt: skip
    assert "latency {operation: slow} is above 100 ms; supported_users is below 12" in lines[3]
    assert lines[-1] == (
        "12.4 {database: sqlite}: the smallest size that holds is one "
        "(server with 1 vCPU and 2,048 MiB)."
    )


@pytest.mark.parametrize(
    ("missing", "answer"),
    [
        (
            ["half"],
            "the smallest size known to hold is one (server with 1 vCPU and 2,048 MiB); no trial "
            "of half counts.",
        ),
        (["two"], "the smallest size that holds is one (server with 1 vCPU and 2,048 MiB)."),
        (["one", "two"], "no size is known to hold; no trial of one, two counts."),
        ([], "the smallest size that holds is one (server with 1 vCPU and 2,048 MiB)."),
    ],
)
def test_a_size_without_a_trial_is_unknown(printed, missing, answer):
    plan = sized_plan()
    trials = [each for each in sized_trials(plan) if each.axes["size"] not in missing]

    assert printed(plan, trials).stdout.splitlines()[-1] == f"12.4 {{database: sqlite}}: {answer}"
    rows = json.loads(printed(plan, trials, "--format", "json").stdout)
    assert [row["size"] for row in rows if row["holds"] == "unknown"] == missing
    assert {row["because"] for row in rows if row["holds"] == "unknown"} <= {"no trial counts"}


def test_programs_get_every_digit(printed):
    plan = sized_plan()

    rows = json.loads(printed(plan, sized_trials(plan), "--format", "json").stdout)

    assert [row["holds"] for row in rows] == ["no", "smallest", "yes"]
    assert rows[1]["latency"] == "60.0"
    assert rows[1]["because"] is None


def test_a_run_without_sizes_is_refused_with_the_way_to_measure_some(printed):
    plan = sized_plan()
    request = plan.request.model_copy(update={"axes": {}})
    result = printed(plan.model_copy(update={"request": request}), [])

    assert str(result.exception) == (
        f"RUN: {RUN} has no axis size; measure sizes with `tidemark run kiwi --axis size=A,B`"
    )


def test_a_run_of_a_suite_without_sizes_is_refused_with_what_the_suite_lacks(printed):
    result = printed(planned(repetitions=1), [])

    assert str(result.exception) == (
        "RUN: the suite rocksdb has no axis size; give it one, and its services `sizes` for it"
    )
