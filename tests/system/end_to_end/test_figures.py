"""Commands on the figures of an ended run."""

import json
import re
from pathlib import Path

import pytest

from tests.system.end_to_end.command_line import SMALL, tidemark
from tidemark.model.suite_files import read_suites


@pytest.fixture(scope="module")
def kept(ran, own_state):
    """Return the id of an ended run, and its state folder."""
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return re.search(r"^Run (\S+)$", ran.stdout, re.MULTILINE).group(1), str(own_state)


def report_of(state, run):
    folder = Path(state) / "reports" / "rocksdb" / run
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_another_process_makes_the_same_report_and_comparisons_byte_for_byte(kept):
    run, state = kept
    before = report_of(state, run)

    done = tidemark("report", run, "--state", state)

    assert done.returncode == 0, done.stderr
    assert [Path(line).name for line in done.stdout.splitlines()] == [
        "report.md", "report.html",
        "9.8.4-against-9.0.0.blocks.json", "9.8.4-against-9.0.0.html", "9.8.4-against-9.0.0.json",
        "9.8.4-against-9.0.0.md",
    ]  # fmt: skip
    assert report_of(state, run) == before


def test_show_prints_the_status_and_the_figures_of_a_run(kept):
    run, state = kept

    done = tidemark("show", run, "--state", state)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Run {run} is complete\n")
    assert "ingest_rate" in done.stdout


def test_history_as_json_has_one_object_for_each_version(kept):
    _, state = kept

    done = tidemark("history", "--format", "json", "--state", state)

    versions = json.loads(done.stdout)
    assert [version["version"] for version in versions] == ["9.0.0", "9.8.4"]
    metrics = {m.name for test in read_suites()["rocksdb"].tests for m in test.metrics}
    assert all(set(v["metrics"]) == metrics for v in versions)
    assert all(m["trials"] == 1 for v in versions for m in v["metrics"].values())


@pytest.mark.systems
def test_show_without_a_run_shows_the_newest_listed_run(kept):
    run, state = kept
    again = tidemark("run", *SMALL, "--state", state)
    newest = re.search(r"^Run (\S+)$", again.stdout, re.MULTILINE).group(1)

    def listed(*options):
        done = tidemark("runs", "--format", "json", "--state", state, *options)
        assert done.returncode == 0, done.stderr
        return [row["run_id"] for row in json.loads(done.stdout)]

    assert listed() == listed("--all") == [newest, run]
    shown = tidemark("show", "--state", state)
    assert shown.stdout.startswith(f"Run {newest} is complete\n")


@pytest.mark.systems
def test_an_excluded_trial_is_shown_and_does_not_count_until_its_inclusion(kept):
    run, state = kept
    tidemark("report", run, "--state", state)
    before = report_of(state, run)["report.md"]

    excluded = tidemark("exclude", f"{run}/1", "--reason", "a noisy hour", "--state", state)
    tidemark("report", run, "--state", state)
    without = report_of(state, run)["report.md"]
    included = tidemark("include", f"{run}/1", "--state", state)
    tidemark("report", run, "--state", state)

    assert excluded.stdout == f"trial 1 of run {run} no longer counts\n"
    assert included.stdout == f"trial 1 of run {run} counts again\n"
    assert b"a noisy hour" in without
    assert without != before
    assert report_of(state, run)["report.md"] == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["exclude", "../x", "--reason", "r"],
            "RUN[/TRIAL]: '../x' names no run; expected the form of 20261120T124455Z-0a1b2c/4",
        ),
        (
            ["exclude", "20261120T124455Z-0a1b2c", "--reason", " "],
            "--reason: '' is not accepted: say why it does not count",
        ),
    ],
)
def test_a_bad_target_is_refused_in_one_sentence(arguments, sentence):
    done = tidemark(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tidemark: {sentence}\n"


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_run_that_is_not_stored_is_refused(kept, command):
    _, state = kept

    done = tidemark(command, "20200101T000000Z-000000", "--state", state)

    assert done.returncode == 2
    assert done.stderr.startswith("tidemark: RUN: 20200101T000000Z-000000 is not stored")


def test_an_unknown_trial_is_refused(kept):
    run, state = kept

    done = tidemark("exclude", f"{run}/9", "--reason", "r", "--state", state)

    assert done.stderr == f"tidemark: TRIAL: run {run} has no trial 9; expected 1 to 2\n"
