"""Output about a run while it is active and after its end."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from tidemark.cli.live import Pace, place, show_result, table
from tidemark.cli.target import Target
from tidemark.client.results import Progress
from tidemark.client.runs import Run

PLAN = SimpleNamespace(trials=[SimpleNamespace(name="9.0.0"), SimpleNamespace(name="9.8.4")])


def test_the_time_that_is_left_counts_down_during_a_trial():
    pace = Pace(done=1, total=2, measuring=26)

    assert pace.text(26, trial_seconds=5) == "elapsed 26 s, left about 26 s"
    assert pace.text(43, trial_seconds=5) == "elapsed 43 s, left about 9.0 s"


def test_the_expected_time_of_a_trial_is_used_until_one_is_done():
    assert Pace(0, 2, 0.0).text(1, trial_seconds=5) == "elapsed 1.0 s, left about 9.0 s"


def test_a_run_that_takes_longer_than_expected_has_no_time_left():
    assert Pace(0, 2, 0.0).text(20, trial_seconds=5) == "elapsed 20 s"


@pytest.mark.parametrize(
    ("trial", "test", "where"),
    [
        (1, None, "trial 1 of 2  9.0.0"),
        (2, "ingest", "trial 2 of 2  9.8.4  ingest"),
        (3, None, "report"),
    ],
)
def test_the_place_of_a_run_is_its_test_or_its_report_after_the_last_trial(trial, test, where):
    client = SimpleNamespace(current_test=lambda *_: test)

    assert place(client, None, PLAN, trial) == where


@pytest.mark.parametrize(
    ("reason", "options"),
    [("budget_usd: 1 USD of 1 USD are spent", " --budget-usd USD"), ("trial 2 failed", "")],
)
def test_the_hint_after_a_spent_budget_has_a_new_budget(reason, options):
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


def test_a_complete_run_prints_the_paths_of_its_report_and_its_comparisons(tmp_path):
    comparison = "9.8.4-against-9.0.0.md"
    files = {"report.md": b"# RocksDB", comparison: b"# RocksDB: 9.8.4 against 9.0.0"}
    results = SimpleNamespace(
        outcome=lambda _: None,
        plan=lambda _: SimpleNamespace(suite=SimpleNamespace(name="rocksdb")),
        report=lambda _suite, _run, file: files.get(file),
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
    assert (folder / comparison).read_bytes() == files[comparison]


def test_the_table_of_a_run_has_the_verdict_and_interval_of_each_change():
    rate = {
        "metric": "ingest_rate", "unit": "records/s", "samples": 12, "spread": 1.5,
    }  # fmt: skip
    verdict = {"word": "faster", "low": 0.031, "high": 0.072}
    printed = io.StringIO()

    Console(file=printed, width=120).print(
        table(
            [
                {**rate, "version": "9.0.0", "value": 100.0, "change": None, "verdict": None},
                {**rate, "version": "9.8.4", "value": 105.0, "change": 0.05, "verdict": verdict},
            ]
        )
    )

    first, second = (line.split() for line in printed.getvalue().splitlines() if "ingest" in line)
    assert first[-1] == "12"
    assert " ".join(second[-8:]) == "5.00 % 3.10 % to 7.20 % faster"


def test_the_table_of_an_older_run_has_no_verdicts():
    rate = {
        "version": "9.0.0", "metric": "ingest_rate", "unit": "records/s", "samples": 12,
        "spread": None, "value": None, "change": 0.05,
    }  # fmt: skip
    printed = io.StringIO()

    Console(file=printed, width=120).print(table([rate]))

    assert printed.getvalue().rstrip().endswith("12    5.00 %")
