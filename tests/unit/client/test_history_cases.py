"""Small histories with a right answer each: from the file to the changes that are told."""

import gzip
import json
from datetime import date
from pathlib import Path

import pytest

from tests.unit.fakes import FakeBucket
from tidemark.client.imports import releases
from tidemark.client.published.file_figures import figures_without_suite
from tidemark.client.published.release_tables import Wishes
from tidemark.model.plan import Import
from tidemark.store import keys
from tidemark.store.history import record_imports
from tidemark.store.imported_run import write_release

CASES = Path(__file__).parent / "history_cases"
TODAY = date(2026, 11, 27)


def told(name, until=None):
    """Return the rows of changes that follow from a file, and the sentences on what is untold."""
    text = "\n".join((CASES / name).read_text(encoding="utf-8").splitlines()[:until])
    version = "1.0" if name in {"hyperfine.json", "locust.csv"} else None
    found = figures_without_suite(text, Wishes(version=version), TODAY).named(name, None, {})
    bucket = FakeBucket()
    origin = Import(file=name, line=1, source="", imported_on=TODAY)
    runs = [
        write_release(bucket, "case", "Case", release)
        for release in releases(found.figures, found.figures, origin)
    ]
    record_imports(bucket, runs)
    (key,) = bucket.keys(keys.tables("changes", "case"))
    rows = list(map(json.loads, gzip.decompress(bucket.objects[key]).splitlines()))
    return (
        [row for row in rows if row.get("state")],
        [row["untold"] for row in rows if row.get("untold")],
    )


def changes(name, until=None):
    return [
        (
            row["verdict"],
            row["state"],
            row["version"],
            round(row["change"], 1),
            row["mended_version"],
        )
        for row in told(name, until)[0]
    ]


STEPS = {
    "short_step_7.csv": ("slower", "lasting", "1.30.0", -0.3, None),
    "newest_only.csv": ("slower", "suspected", "1.24.0", -0.3, None),
    "hump_6_of_2x.csv": ("slower", "new", "1.40.0", 1.1, "1.46.0"),
    "short_dip.csv": ("slower", "new", "1.20.0", -0.2, "1.24.0"),
    "revert.csv": ("slower", "lasting", "1.20.0", -0.2, "1.30.0"),
    "laststep.csv": ("slower", "confirmed", "1.30.0", -0.3, None),
    "laststep8.csv": ("slower", "lasting", "1.30.0", -0.3, None),
    "sha.csv": ("slower", "lasting", "f1abd670", -0.2, None),
    "sha40.csv": ("slower", "lasting", "f1abd670358e036c31296e66b3b66c382ac00812", -0.2, None),
    "gitdesc.csv": ("slower", "lasting", "1.2.0-15-gf1abd67", -0.2, None),
    "lts.csv": ("slower", "lasting", "1.9.30", -0.3, None),
    "e160_step.csv": ("slower", "lasting", "1.15.0", -0.2, None),
    "tiny_step.csv": ("slower", "lasting", "1.15.0", 1.0, None),
    "rcs.csv": ("slower", "lasting", "1.5.0-rc1", -0.2, None),
    "nightly.csv": ("slower", "lasting", "nightly-2024-02-04", -0.2, None),
    "calendar.csv": ("slower", "lasting", "2025.04", -0.2, None),
    "debian.csv": ("slower", "lasting", "1.10-15", -0.2, None),
    "main.csv": ("slower", "lasting", "main-1", -0.2, None),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_slower_level_has_its_version_its_size_and_the_version_that_mended_it(name):
    slower, *others = changes(name)

    assert slower == STEPS[name]
    # The change that mends a level follows it.
    assert [other[2] for other in others] == [slower[4]] * (slower[4] is not None)


def test_a_change_behind_a_hump_is_found():
    assert changes("masked_by_hump.csv") == [
        ("faster", "new", "1.50.0", 1.0, "1.56.0"),
        ("slower", "new", "1.56.0", -0.5, None),
        ("slower", "lasting", "1.91.0", -0.2, None),
    ]


def test_a_change_behind_a_noisy_fall_is_found():
    assert changes("masked_by_past.csv")[-1] == ("slower", "lasting", "1.28.0", -0.3, None)


def test_a_short_step_is_suspected_at_its_release_and_confirmed_by_the_next():
    at_release, one_later = (changes("short_step_7.csv", until) for until in (32, 33))

    assert at_release == [("slower", "suspected", "1.30.0", -0.3, None)]
    assert one_later == [("slower", "confirmed", "1.30.0", -0.3, None)]


def test_a_drift_blames_no_version():
    (drift,), _ = told("drift.csv")

    assert (drift["state"], drift["last_version"]) == ("drift", None)
    assert drift["each"] == pytest.approx(-0.005, abs=0.001)
    assert drift["change"] == pytest.approx(-0.26, abs=0.02)


def test_failures_that_rise_from_zero_have_no_percentage():
    (rise,), _ = told("zeros_then.csv")

    assert (rise["verdict"], rise["version"], rise["change"]) == ("slower", "1.15.0", None)
    assert (rise["level_before"], rise["level_after"]) == (0, 5)


@pytest.mark.parametrize(
    "name",
    ["outliers2.csv", "identical_spike.csv", "bimodal.csv", "sawtooth.csv", "three_decimals.csv",
     "secs.csv", "oldpatch.csv", "nan.csv", "dupver.csv"],
)  # fmt: skip
def test_what_is_no_change_of_level_is_told_as_none(name):
    assert changes(name) == []


def test_a_metric_that_ends_is_not_measured_since():
    rows, untold = told("removed.csv")

    assert rows == []
    assert untold == [
        "not measured since run 20260125T000000Z-c1e687 (1.24.0); there are 15 later runs."
    ]


def test_files_of_other_tools_are_read():
    assert told("hyperfine.json")[0] == told("locust.csv")[0] == []
