"""Verdicts on runs that are drawn from repetitions, and the slowed system of these repetitions."""

import random

import pytest

from tests.checks.bench.drawn_verdicts import pairs_of, row, tables
from tests.checks.bench.slowed_rocksdb import BASE, LOSSES, slowed, write_system
from tests.plans import plan_of
from tests.unit.measured_runs import measured, with_values
from tidemark.model.run_spec import requirement
from tidemark.model.suite_files import read_suites


@pytest.fixture
def suite(tmp_path):
    write_system(tmp_path)
    return read_suites(tmp_path)["rocksdb"]


def test_the_slowed_versions_are_one_release(suite):
    spec = plan_of({"repetitions": 1}, suite=suite).request

    packages = {requirement(spec, suite, version) for version in spec.versions}
    assert spec.versions == (BASE, *map(slowed, LOSSES))
    assert packages == {requirement(spec, read_suites()["rocksdb"], "9.8.4")}


def test_runs_are_drawn_from_whole_repetitions(suite):
    plan = plan_of({"repetitions": 6}, suite=suite)
    chance = random.Random(1)
    trials = [
        with_values(trial, "compaction", [rate * chance.uniform(0.99, 1.01)])
        for trial in measured(plan)
        for rate in [1000 * (1 - int(trial.version.split(".")[2]) / 100)]
    ]

    of_ten = row(10, pairs_of(trials, slowed(10)), random.Random(1), runs=20)
    text = "".join(tables(trials, runs=20))

    assert (of_ten.right, of_ten.wrong, of_ten.fixed) == (1, 0, 1)
    assert 10 <= of_ten.repetitions <= 20
    assert text.count("\n| ") == len(LOSSES)
    assert "| 0 % slower | 100.0 % |" in text
