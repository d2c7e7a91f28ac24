"""What is said of a run while it goes on, and when it has ended."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from local.commands.live import Pace, place, show_result
from local.commands.target import Target
from local.following import Run
from local.results import Progress

PLAN = SimpleNamespace(trials=[SimpleNamespace(version="9.0.0"), SimpleNamespace(version="9.8.4")])


def test_what_is_left_counts_down_while_a_trial_goes_on():
    pace = Pace(done=1, of=2, measuring=26)

    assert pace.told(26, trial_seconds=5) == "elapsed 26 s, left about 26 s"
    assert pace.told(43, trial_seconds=5) == "elapsed 43 s, left about 9.0 s"


def test_what_a_trial_is_expected_to_take_stands_in_until_one_is_done():
    assert Pace(0, 2, 0.0).told(1, trial_seconds=5) == "elapsed 1.0 s, left about 9.0 s"


def test_of_a_run_that_takes_longer_than_expected_nothing_is_said_to_be_left():
    assert Pace(0, 2, 0.0).told(20, trial_seconds=5) == "elapsed 20 s"


@pytest.mark.parametrize(
    ("trial", "test", "where"),
    [
        (1, None, "trial 1 of 2  9.0.0"),
        (2, "ingest", "trial 2 of 2  9.8.4  ingest"),
        (3, None, "report"),
    ],
)
def test_a_run_is_at_its_report_once_no_trial_is_missing(trial, test, where):
    client = SimpleNamespace(current_test=lambda *_: test)

    assert place(client, None, PLAN, trial) == where


@pytest.mark.parametrize(
    ("reason", "options"),
    [("budget_usd: 1 USD of 1 USD are spent", " --budget-usd USD"), ("trial 2 failed", "")],
)
def test_a_run_that_spent_its_budget_is_resumed_with_another(reason, options):
    results = SimpleNamespace(
        outcome=lambda _: None, plan=lambda _: None, progress=lambda _: Progress(1, 2)
    )
    client = SimpleNamespace(
        await_end=lambda _: True, status=lambda _: ("FAILED", reason), results=results
    )
    printed = io.StringIO()

    code = show_result(client, Run("r", "arn"), Target(Path(), None), Console(file=printed))

    assert code == 1
    assert f"resume it with `tidemark run --resume r{options}`." in printed.getvalue()


def test_a_run_that_is_complete_names_its_report_and_its_comparisons(tmp_path):
    comparison = "9.8.4-against-9.0.0.md"
    kept = {"report.md": b"# RocksDB", comparison: b"# RocksDB: 9.8.4 against 9.0.0"}
    results = SimpleNamespace(
        outcome=lambda _: None,
        plan=lambda _: SimpleNamespace(suite=SimpleNamespace(name="rocksdb")),
        report=lambda _suite, _run, file: kept.get(file),
        comparisons=lambda _suite, _run: [comparison],
    )
    client = SimpleNamespace(
        await_end=lambda _: True, status=lambda _: ("SUCCEEDED", None), results=results
    )
    printed = io.StringIO()

    code = show_result(client, Run("r", "arn"), Target(tmp_path, None), Console(file=printed))

    folder = tmp_path / "reports" / "rocksdb" / "r"
    assert code == 0
    assert printed.getvalue().splitlines() == [
        f"Report: {folder / 'report.md'}", f"Comparison: {folder / comparison}",
    ]  # fmt: skip
    assert (folder / comparison).read_bytes() == kept[comparison]
