"""``tidemark history --function``: the share and the CPU time of functions by version."""

import csv
import io
from collections import Counter
from contextlib import contextmanager
from datetime import date, timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.fakes import FakeBucket
from tidemark.cli.history import command
from tidemark.client.function_history import function_history
from tidemark.client.history import histories, untold_sentences
from tidemark.model.profile import Profile
from tidemark.model.refusal import Refused
from tidemark.store.stored_profile import write_profile

FIRST_DAY = date(2026, 1, 1)
NEXT = "Iterator::Next"


class Stored:
    """A bucket with profiles, each with its stacks."""

    def __init__(self):
        self.bucket, self.profiled = FakeBucket(), []

    def add(self, version, stacks, *, day=0, test="ingest", **more):
        """Add a profile; its run is that of its day."""
        on = FIRST_DAY + timedelta(days=day)
        profile = Profile(
            suite="rocksdb", version=version, test=test, profiled_on=on,
            form="folded", file="all.folded", source="", imported_on=on, digest="",
            samples=sum(stacks.values()),
            trial=901,
            **{
                "name": f"{on:%Y%m%d}T000000Z-{len(self.profiled):06x}", "unit": "samples",
                "run": f"{on:%Y%m%d}T120000Z-abcdef", **more,
            },
        )  # fmt: skip
        self.profiled.append(profile)
        write_profile(self.bucket, profile, Counter(stacks))


def sampled(of_next, of_all=1000):
    return {"main;db::Iterator::Next(int);memcmp": of_next, "main;Add": of_all - of_next}


def history(stored, *functions):
    found = function_history(stored.bucket, stored.profiled, functions)
    return {each.version: each.figures for each in histories(found.rows, found.changes)}, found


def test_a_version_has_the_mean_and_the_spread_of_its_profiles():
    stored = Stored()
    for of_next in (90, 100, 110):
        stored.add("9.8.4", sampled(of_next), seconds=20.0)
    stored.add("8.8.1", sampled(50))

    versions, found = history(stored, NEXT)

    assert list(versions) == ["8.8.1", "9.8.4"]
    share, time = (versions["9.8.4"][f"{NEXT} {figure}"] for figure in ("share", "CPU time"))
    assert (share.unit, share.value, share.spread, share.trials) == ("%", 10.0, 1.0, 3)
    assert (time.unit, time.value, time.direction) == ("s/M records", 2.0, "lower")
    assert list(versions["8.8.1"]) == [f"{NEXT} share"]
    assert next(untold_sentences(found.untold)) == (
        "The CPU time leaves out 1 of 4 profiles, for which it is not known."
    )


def test_a_version_has_the_day_of_its_last_profile():
    stored = Stored()
    for day in (3, 9, 5):
        stored.add("9.8.4", sampled(90), day=day)

    found = function_history(stored.bucket, stored.profiled, [NEXT])

    (version,) = histories(found.rows)
    assert version.last_at == FIRST_DAY + timedelta(days=9)


def test_a_function_counts_in_all_its_frames_and_a_recursive_one_once():
    stored = Stored()
    stored.add("9.8.4", {"a;f;f": 10, "b;f": 20, "c": 70})

    versions, _ = history(stored, "f")

    assert versions["9.8.4"]["f share"].value == 30.0


def test_a_version_without_the_function_has_no_figure_and_a_profile_without_it_a_zero():
    stored = Stored()
    stored.add("8.8.1", {"main;Add": 100})
    for stacks in (sampled(2), {"main;Add": 1000}):
        stored.add("9.8.4", stacks)

    versions, _ = history(stored, NEXT, "Add")

    assert list(versions["8.8.1"]) == ["Add share"]
    assert versions["9.8.4"][f"{NEXT} share"].value == pytest.approx(0.1)


def test_a_change_of_level_is_found_over_runs_of_profiles():
    stored = Stored()
    for day in range(24):
        of_next = (100 if day < 12 else 150) + day % 3
        stored.add("9.8.4" if day < 12 else "9.9.0", sampled(of_next), day=day)

    _, found = history(stored, NEXT)

    (change,) = found.changes
    assert (change["version_before"], change["version"]) == ("9.8.4", "9.9.0")
    assert (change["verdict"], change["changed_run"]) == ("slower", "20260113T120000Z-abcdef")
    assert found.untold == []


@pytest.mark.parametrize("order", [1, -1])
def test_the_level_of_a_run_is_that_of_its_newest_version(order):
    stored = Stored()
    for day in range(24):
        newest = "9.8.4" if day < 12 else "9.9.0"
        profiles = [("9.0.0", 100), (newest, (100 if day < 12 else 150) + day % 3)]
        for version, of_next in profiles[::order]:
            stored.add(version, sampled(of_next), day=day)

    _, found = history(stored, NEXT)

    assert [change["version"] for change in found.changes] == ["9.9.0"]


def test_published_profiles_of_a_version_and_day_are_one_run():
    stored = Stored()
    for of_next in range(20):
        stored.add("9.8.4", sampled(90 + of_next), run="")

    _, found = history(stored, NEXT)

    assert list(untold_sentences(found.untold)) == [
        f"{NEXT} share: cannot tell yet: 1 of about 6 runs."
    ]


@pytest.fixture
def invoke(monkeypatch):
    """Return a function that runs the command over stored profiles."""

    def invoke(profiles, *words):
        @contextmanager
        def stored(_target):
            yield SimpleNamespace(bucket=profiles.bucket, tables=None)

        monkeypatch.setattr("tidemark.cli.history.stored", stored)
        done = CliRunner().invoke(command, ["rocksdb", *words])
        if isinstance(done.exception, Refused):
            raise done.exception
        return done

    return invoke


def test_the_command_prints_functions_by_version_as_it_prints_rates(invoke):
    stored = Stored()
    for of_next in (90, 100, 110):
        stored.add("9.8.4", sampled(of_next), seconds=20.0)

    table = invoke(stored, "--function", NEXT)
    lines = list(csv.DictReader(io.StringIO(
        invoke(stored, "--function", NEXT, "--format", "csv").stdout
    )))  # fmt: skip

    assert f"{NEXT} share (%)" in " ".join(table.stdout.split())
    assert "10.0 ± 1.0 (3 trials)" in " ".join(table.stdout.split())
    assert "cannot tell yet: 1 of about 6 runs." in table.stdout
    assert [line["value"] for line in lines] == ["10.0", "2.0"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--function", "absent"], r"^--function: no profile has a frame of 'absent'"),
        (["--function", NEXT, "--test", "compaction"], "rocksdb has no profile of test compaction"),
        (["--function", NEXT, "--metric", "ingest_rate"], "^--metric: ingest_rate is not accepted"),
    ],
)
def test_a_history_that_no_profile_has_is_refused(invoke, words, sentence):
    stored = Stored()
    stored.add("9.8.4", sampled(90))

    with pytest.raises(Refused, match=sentence):
        invoke(stored, *words)


def test_profiles_of_several_units_have_no_common_history(invoke):
    stored = Stored()
    stored.add("9.8.4", sampled(90))
    stored.add("9.8.4", sampled(91), unit="nanoseconds")

    with pytest.raises(Refused, match="count nanoseconds, samples; expected one unit"):
        invoke(stored, "--function", NEXT)


def test_published_profiles_stand_at_their_days_whenever_they_were_imported():
    stored = Stored()
    for day in reversed(range(24)):
        of_next = (100 if day < 12 else 150) + day % 3
        name = f"20270101T0000{59 - day}Z-abcdef"
        version = "9.8.4" if day < 12 else "9.9.0"
        stored.add(version, sampled(of_next), day=day, run="", name=name)

    _, found = history(stored, NEXT)

    assert [(each["version"], each["verdict"]) for each in found.changes] == [("9.9.0", "slower")]
