"""What can be done with figures after their run, from the command line."""

import json
import re
from pathlib import Path

import pytest

from tests.end_to_end.command_line import SMALL, tidemark


@pytest.fixture(scope="module")
def kept(new_state):
    """The name of a run that has ended, and the state folder that it is in."""
    own_state = new_state()
    done = tidemark("run", *SMALL, "--baseline", "9.0.0", "--state", str(own_state))
    assert done.returncode == 0, done.stdout + done.stderr
    return re.search(r"^Run (\S+)$", done.stdout, re.MULTILINE).group(1), str(own_state)


def report_of(own_state, run):
    folder = Path(own_state) / "reports" / "rocksdb" / run
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_report_and_its_comparisons_are_made_again_byte_for_byte_by_another_process(kept):
    run, own_state = kept
    before = report_of(own_state, run)

    done = tidemark("report", run, "--state", own_state)

    assert done.returncode == 0, done.stderr
    assert [Path(line).name for line in done.stdout.splitlines()] == [
        "report.md", "report.html", "9.8.4-against-9.0.0.html", "9.8.4-against-9.0.0.md",
    ]  # fmt: skip
    assert report_of(own_state, run) == before


def test_show_tells_how_a_run_ended_and_what_it_measured(kept):
    run, own_state = kept

    done = tidemark("show", run, "--state", own_state)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Run {run} is complete\n")
    assert "ingest_rate" in done.stdout


def test_history_as_json_has_one_object_for_each_version(kept):
    _, own_state = kept

    done = tidemark("history", "--format", "json", "--state", own_state)

    found = json.loads(done.stdout)
    assert [version["version"] for version in found] == ["9.0.0", "9.8.4"]
    assert all(set(v["metrics"]) == {"ingest_rate", "compaction_rate"} for v in found)
    assert all(m["trials"] == 1 for v in found for m in v["metrics"].values())


def test_show_without_a_run_shows_the_newest_that_runs_lists(kept):
    run, own_state = kept
    again = tidemark("run", *SMALL, "--state", own_state)
    newest = re.search(r"^Run (\S+)$", again.stdout, re.MULTILINE).group(1)

    def listed(*options):
        done = tidemark("runs", "--format", "json", "--state", own_state, *options)
        assert done.returncode == 0, done.stderr
        return [row["run_id"] for row in json.loads(done.stdout)]

    assert listed() == listed("--all") == [newest, run]
    assert listed("--limit", "1") == [newest]
    shown = tidemark("show", "--state", own_state)
    assert shown.stdout.startswith(f"Run {newest} is complete\n")


def test_an_excluded_trial_is_shown_and_does_not_count_until_it_is_included(kept):
    run, own_state = kept
    tidemark("report", run, "--state", own_state)
    before = report_of(own_state, run)["report.md"]

    excluded = tidemark("exclude", f"{run}/1", "--reason", "a noisy hour", "--state", own_state)
    tidemark("report", run, "--state", own_state)
    without = report_of(own_state, run)["report.md"]
    included = tidemark("include", f"{run}/1", "--state", own_state)
    tidemark("report", run, "--state", own_state)

    assert excluded.stdout == f"trial 1 of run {run} does not count any more\n"
    assert included.stdout == f"trial 1 of run {run} counts again\n"
    assert b"a noisy hour" in without
    assert without != before
    assert report_of(own_state, run)["report.md"] == before


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
    _, own_state = kept

    done = tidemark(command, "20200101T000000Z-000000", "--state", own_state)

    assert done.returncode == 2
    assert done.stderr.startswith("tidemark: RUN: 20200101T000000Z-000000 is not stored")


def test_a_trial_that_the_run_does_not_have_is_refused(kept):
    run, own_state = kept

    done = tidemark("exclude", f"{run}/9", "--reason", "r", "--state", own_state)

    assert done.stderr == f"tidemark: TRIAL: 9 is not one of 1 to 2 of run {run}\n"
