"""Verdicts of runs that end in five ways, from the state machine to their readers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.end_to_end import verdict_runs
from tidemark.model.checkout import ROOT
from tidemark.model.version_order import NEWEST, PREVIOUS

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"
NAMES = [run.__name__ for run in verdict_runs.RUNS]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return the verdicts of each run by reader."""
    # A separate process is necessary: two clouds in one process share their resources.
    words = [sys.executable, "-m", verdict_runs.__name__, tmp_path_factory.mktemp("state"), SYSTEM]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def against_base(found):
    """Return the verdicts against the oldest version, which the stored trials give."""
    return sorted(row for base, *row in found["recomputed"] if base == "1.0")


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_complete_and_finds_the_slower_version(told, name):
    newest, (word, *_) = max((new, rest) for new, *rest in against_base(told[name]))

    assert told[name]["status"] == "complete"
    assert (newest >= "1.2", word) == (True, "slower")


def test_a_search_measures_the_versions_beside_the_first_slower_one(told):
    assert {new for _, new, *_ in told["searched"]["recomputed"]} == {"1.1", "1.2", "1.3"}


@pytest.mark.parametrize("name", NAMES)
def test_athena_has_the_verdicts_that_the_stored_trials_give(told, name):
    assert sorted(told[name]["athena"]) == sorted(told[name]["recomputed"])


@pytest.mark.parametrize("name", NAMES)
def test_the_comparisons_for_programs_have_the_verdicts_against_the_baseline(told, name):
    found = [row for base, *row in told[name]["comparisons"] if base == "1.0"]

    assert sorted(found) == against_base(told[name])


@pytest.mark.parametrize("name", NAMES)
def test_the_page_and_quicksight_have_the_verdicts_of_the_newest_run(told, name):
    pairs = {(base, new) for base, new, *_ in told[name]["recomputed"]}

    # Rows of the words newest and previous repeat those of the versions that they stand for.
    rows = [row for row in told[name]["page"] if not {NEWEST, PREVIOUS, "base"} & {*row}]
    assert sorted(row for row in rows if tuple(row[:2]) in pairs) == sorted(
        told[name]["recomputed"]
    )
