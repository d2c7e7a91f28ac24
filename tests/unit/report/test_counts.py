"""The counts in sentences over 200 drawn runs: the judge's own, or those of the trials."""

import random
import re
from functools import cache

import pytest

from tests.plans import STARTED
from tests.unit.measured_runs import failed, measured, planned, with_values
from tidemark.model.results import Exclusion, Exclusions
from tidemark.model.run_spec import FEWEST
from tidemark.model.sentences import part_of
from tidemark.report.blocks import Bullets
from tidemark.report.comparison.findings import comments, next_step
from tidemark.report.comparison.sides import sides
from tidemark.report.run_report.trials import count
from tidemark.store.stored_run import StoredRun

BASE, NEW = "9.0.0", "9.8.4"
OF_FIVE = re.compile(r"(\d+) of the 5 pairs that a verdict needs")
COUNTED = re.compile(r"(no|\d+) pairs?(?: of (\d+) and (\d+) trials| without [^;]*|);")


@cache
def whole(repetitions):
    """Return the plan and the trials of a run of both versions."""
    plan = planned([BASE, NEW], repetitions=repetitions)
    return plan, measured(plan)


def drawn(seed):
    """Return a run whose trials scatter; some of them failed, and some are left out."""
    chance = random.Random(seed)
    plan, trials = whole(chance.randint(1, 12))
    scatter, change = chance.choice([0.002, 0.05, 0.4]), chance.choice([0.8, 1.0, 1.1])
    recorded = []
    for trial in trials:
        rate = 1000 * chance.lognormvariate(0, scatter) * (change if trial.version == NEW else 1)
        gone = chance.random() < 0.1
        recorded.append(failed(trial) if gone else with_values(trial, "ingest", [rate]))
    left_out = Exclusion(excluded=True, reason="a neighbour", at=STARTED)
    excluded = {f"{trial.trial:03d}": left_out for trial in trials if chance.random() < 0.1}
    return StoredRun(plan, recorded, Exclusions(excluded), [])


def counting(run, version):
    """Return the repetitions whose trial of a version counts."""
    return {
        trial.repetition
        for trial in run.trials
        if (trial.version, trial.status) == (version, "ok")
        and run.exclusions.reason(trial.trial) is None
    }


def sentences(blocks):
    return [text for block in blocks if isinstance(block, Bullets) for text in block.items]


@pytest.fixture(scope="module")
def compared():
    """Return the drawn runs with their sides."""
    runs = [drawn(seed) for seed in range(200)]
    return [(run, sides((run, BASE), (run, NEW))) for run in runs]


def test_each_number_of_pairs_and_trials_is_that_of_the_trials_which_count(compared):
    checked = 0
    for run, both in compared:
        base, new = counting(run, BASE), counting(run, NEW)
        for text in sentences(comments(both)):
            for pairs in OF_FIVE.findall(text):
                assert int(pairs) == len(base & new), text
            if text.startswith(("ingest_rate", "compaction_rate")):
                for pairs, *trials in COUNTED.findall(text):
                    assert int(pairs.replace("no", "0")) == len(base & new), text
                    assert trials in ([str(len(new)), str(len(base))], ["", ""]), text
                    checked += 1
    assert checked > 300


def test_the_advised_repetitions_are_those_that_the_judge_misses(compared):
    advised = 0
    for run, both in compared:
        verdicts = [pair.verdict for pair in both.pairs if pair.verdict]
        needed = [each.judgement.pairs + each.more_pairs for each in verdicts if each.more_pairs]
        text = str(next_step(both))
        if found := re.search(r"--repetitions (\d+)", text):
            repetitions = max(run.plan.request.repetitions, FEWEST, *needed, 0)
            assert int(found[1]) == repetitions, text
            advised += 1
    assert advised > 50


def test_the_trials_that_gave_rates_failed_or_are_left_out_are_counted_once_each(compared):
    for run, both in compared:
        for version, side in ((BASE, both.base), (NEW, both.new)):
            trials = [trial for trial in run.trials if trial.version == version]
            statuses = [trial.status for trial in trials]
            left_out = [trial for trial in trials if run.exclusions.reason(trial.trial)]
            ends = [
                f", {number} {words}"
                for words, number in (
                    ("failed", statuses.count("failed")),
                    ("left out on request", len(left_out)),
                )
                if number
            ]
            gave = part_of(statuses.count("ok"), len(trials), "trial")
            assert count(side.run) == f"{gave} gave rates{''.join(ends)}."
