"""Prepared results as reports, each with the answer that its page has to name first."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from tests.plans import RUN, STARTED, plan_of
from tests.unit import load_results, two_of_everything
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import failed, measured, on_machine, planned, with_values
from tests.unit.report import test_comparison, test_labels
from tests.unit.run import test_search
from tidemark.model.comment import Comment
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.blocks import Report
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun

BASE, NEW = "9.0.0", "9.8.4"
TYPICAL = {"ingest": 700_000, "compaction": 2_000_000}
STEADY = (1.0, 1.01, 0.99, 1.0, 1.005)
NEARLY = (1.0, 1.022, 0.978, 1.009, 0.996)  # so that the interval of a change is seen
SCATTERED = (1.0, 1.9, 0.4, 1.1, 0.7)
LATER = "20261127T124455Z-fedcba"
TWENTY = [f"9.{minor}.0" for minor in range(20)]


class Prepared(NamedTuple):
    """A result whose answer is known."""

    report: Callable[[], Report]
    heading: str
    answer: str
    """The sentences below the heading."""
    first: str
    """The first item below the answer, '' without one."""
    step: str
    """What to do next."""


def _with_rates(trial, shares):
    """Return a trial with these shares of the typical rates, by test."""
    for test, share in shares.items():
        jobs = len(next(each for each in trial.tests if each.test == test).samples)
        trial = with_values(trial, test, [TYPICAL[test] * share] * jobs)
    return trial


def _trials(plan, ratios: Mapping[str, Mapping[str, float]], shape=NEARLY):
    """Return the trials of a plan with these ratios of rates, by version and test."""
    shapes = {NEW: shape, **dict.fromkeys(TWENTY[1::2], NEARLY)}
    return [
        _with_rates(trial, {
            test: ratios.get(trial.version, {}).get(test, 1.0) * shares[trial.repetition - 1]
            for test in TYPICAL
        })
        for trial in measured(plan)
        for shares in [shapes.get(trial.version, STEADY)]
    ]  # fmt: skip


def _compared(plan, trials):
    run = StoredRun(plan, trials, NO_EXCLUSIONS, [])
    return comparison(sides((run, BASE), (run, NEW)))


def _changed(ingest, compaction, repetitions=5, shape=NEARLY, change=lambda trial: trial):
    plan = planned((BASE, NEW), repetitions=repetitions)
    trials = _trials(plan, {NEW: {"ingest": ingest, "compaction": compaction}}, shape)
    return _compared(plan, [change(each) if each.version == NEW else each for each in trials])


def _broken_once(trial):
    return failed(trial) if trial.repetition == 3 else trial


def _of_load():
    run = load_results.load_run(5)
    return comparison(sides((run, load_results.BASE), (run, load_results.NEW)))


def _of_one_version():
    plan = planned((NEW,), repetitions=5)
    return report(measured_run(StoredRun(plan, _trials(plan, {}), NO_EXCLUSIONS, [])))


def _commented():
    plan = planned((BASE, NEW), repetitions=5)
    run = StoredRun(plan, _trials(plan, {NEW: {"ingest": 0.8}}), NO_EXCLUSIONS, [])
    said = Comment(
        title="The new memtable",
        author="Ada Example",
        day=date(2026, 11, 28),
        text="Ingest waits for its lock.",
        html="<p>Ingest waits for its lock.</p>",
    )
    return report(replace(measured_run(run), comments=(said,)))


def _broken(trial):
    return failed(trial) if trial.repetition > 2 else trial


def _of_many_labels():
    plan = test_labels.latency_plan(statistics=("mean",))
    return _compared(plan, test_labels.run_of(plan, [f"call{n:02}" for n in range(40)]).trials)


def _unlike():
    plans = {
        version: planned([version], repetitions=5, name=name, records=records)
        for version, name, records in ((BASE, RUN, 1_000_000), (NEW, LATER, 100_000))
    }
    return comparison(
        sides(
            *(
                (StoredRun(plan, _trials(plan, {}), NO_EXCLUSIONS, []), version)
                for version, plan in plans.items()
            )
        )
    )


def _of_twenty(versions=TWENTY, **more):
    suite = planned().suite
    subject = suite.subject.model_copy(update={"versions": {each: each for each in TWENTY}})
    fields = {"versions": versions, "repetitions": 5, "tasks": 1}
    return plan_of(fields, suite=suite.model_copy(update={"subject": subject}), **more)


def _of_twenty_versions():
    plan = _of_twenty()
    slow = {version: {"ingest": 0.8, "compaction": 1.0} for version in TWENTY[12:]}
    return report(measured_run(StoredRun(plan, _trials(plan, slow), NO_EXCLUSIONS, [])))


def _of_search():
    run = test_search.searching("9.0.0", scatter=0.03)
    run.go_on()
    return report(measured_run(run.stored))


def _beside_cpu_time():
    plan = planned((BASE, NEW), repetitions=5)
    trials = _trials(plan, {NEW: {"ingest": 0.8}})
    return _compared(
        *test_comparison.with_cpu_time(
            plan,
            trials,
            lambda trial: 1.5 * (STEADY, NEARLY)[trial.version == NEW][-trial.repetition],
        )
    )


def _history(shares):
    """Return the tables of a run a week, each of a version and the one before it.

    ``shares`` are the versions' typical rates of ingest.
    """
    bucket = FakeBucket()
    ratios = {version: {"ingest": share} for version, share in zip(TWENTY, shares, strict=True)}
    for week, both in enumerate(pairwise(TWENTY)):
        started = STARTED + timedelta(weeks=week - len(TWENTY))
        plan = _of_twenty(both, name=f"{started:%Y%m%dT%H%M%SZ}-{week:06x}", started_at=started)
        run = StoredRun(plan, _trials(plan, ratios), NO_EXCLUSIONS, [])
        two_of_everything.record(bucket, run)
    return {key: body for key, body in bucket.objects.items() if key.startswith("tables/")}


_TITLE = f"RocksDB: {NEW} against {BASE}"
_BOTH = "ingest_rate, compaction_rate"
_LESS, _MORE = (
    f"{change} (95 % interval {ends})"
    for change, ends in (("−20.0 %", "−21.1 % to −18.9 %"), ("+20.0 %", "+18.4 % to +21.6 %"))
)
_AGAIN = "Measure both again, with about 5 repetitions"
_ALIKE = "Measure both alike, in one run, with about 5 repetitions:"
_CONFIRM = "No new pairs have confirmed the change of {}. These would:"
_UNLIKE = "The two sides were not measured alike:"
PREPARED = {
    "faster": Prepared(
        partial(_changed, 1.2, 1.2),
        _TITLE,
        "▲ 2 faster.",
        f"▲ faster: compaction_rate, {_MORE}",
        _CONFIRM.format(_BOTH),
    ),
    "slower": Prepared(
        partial(_changed, 0.8, 0.8),
        _TITLE,
        "▼ 2 slower.",
        f"▼ slower: ingest_rate, {_LESS}",
        _CONFIRM.format(_BOTH),
    ),
    "same": Prepared(
        partial(_changed, 1, 1),
        _TITLE,
        "= 2 same.",
        f"= same: {_BOTH}",
        "Nothing is left to measure.",
    ),
    "cannot tell": Prepared(
        partial(_changed, 1, 1, shape=SCATTERED),
        _TITLE,
        "? 2 cannot tell.",
        f"? cannot tell: {_BOTH} (the pairs scatter too much)",
        f"{_AGAIN} and records 2,000,000, because 100 repetitions",
    ),
    "mixed": Prepared(
        partial(_changed, 1.2, 0.8),
        _TITLE,
        "▼ 1 slower, ▲ 1 faster.",
        f"▼ slower: compaction_rate, {_LESS}",
        _CONFIRM.format(_BOTH),
    ),
    "one missing": Prepared(
        partial(_changed, 1, 1, change=failed),
        _TITLE,
        "✗ failed: all 5 trials of 9.8.4, – 2 not comparable.",
        f"– not comparable: {_BOTH}",
        f"Look into the logs of the failed trials of run {RUN}: 1, 3, 5, 7, 10.",
    ),
    "a broken run": Prepared(
        partial(_changed, 1, 1, change=_broken),
        _TITLE,
        "✗ failed: 3 of 5 trials of 9.8.4, ? 2 cannot tell.",
        f"? cannot tell: {_BOTH} (2 of the 5 pairs that a verdict needs)",
        f"{_AGAIN}:",
    ),
    "1 trial": Prepared(
        partial(_changed, 1.2, 1, repetitions=1),
        _TITLE,
        "? 2 cannot tell.",
        f"? cannot tell: {_BOTH} (1 of the 5 pairs that a verdict needs)",
        f"{_AGAIN}:",
    ),
    "20 versions": Prepared(
        _of_twenty_versions,
        f"RocksDB: run {RUN}",
        "Each version against the version before it: ▼ 1 slower, = 37 same.",
        "▼ slower: ingest_rate, 9.12.0 against 9.11.0, −20.0 % (95 % interval −21.0 % to −18.9 %)",
        _CONFIRM.format("ingest_rate"),
    ),
    "40 metrics with labels": Prepared(
        _of_many_labels,
        _TITLE,
        "▼ 40 slower, = 1 same.",
        "▼ slower: latency {operation: call00}, +98.5 % (95 % interval +95.7 % to +101.4 %); "
        "39 more of latency",
        "Find out why latency {operation: call00} is ",
    ),
    "unlike": Prepared(
        _unlike,
        _TITLE,
        f"? 2 cannot tell. {_UNLIKE} Parameter records is 1,000,000 records for 9.0.0 and 100,000 "
        "records for 9.8.4.",
        f"? cannot tell: {_BOTH} (different runs measured the versions)",
        _ALIKE,
    ),
    "a load of two databases": Prepared(
        _of_load,
        "Kiwi TCMS: 12.4 against 11.7",
        "▼ 6 slower, ▲ 6 faster, = 50 same.",
        "▲ faster: supported_users {database: mariadb}, +16.86 % (95 % interval +16.86 % to "
        "+16.86 %); 5 more of supported_users",
        _CONFIRM.format("supported_users (6 figures)"),
    ),
    "a failed trial among good ones": Prepared(
        partial(_changed, 0.8, 1, change=_broken_once),
        _TITLE,
        "✗ failed: 1 of 5 trials of 9.8.4, ? 2 cannot tell.",
        f"? cannot tell: {_BOTH} (4 of the 5 pairs that a verdict needs)",
        f"{_AGAIN}:",
    ),
    "one version": Prepared(
        _of_one_version,
        f"RocksDB: run {RUN}",
        "One version has nothing to be compared with.",
        "ingest_rate of 9.8.4: 701 k ± 11 k records/s",
        "9.8.4 has nothing to be compared with. Measure another version beside it:",
    ),
    "comments": Prepared(
        _commented,
        f"RocksDB: run {RUN}",
        f"{NEW} against {BASE}: ▼ 1 slower, = 1 same.",
        f"▼ slower: ingest_rate, {_LESS}",
        _CONFIRM.format("ingest_rate"),
    ),
    "environment changed": Prepared(
        partial(_changed, 0.8, 0.8, change=lambda trial: on_machine(trial, cpu_model="Xeon 8488C")),
        _TITLE,
        f"▽ 2 slower on unlike machines. {_UNLIKE} Machine cpu_model is AMD EPYC 7R13 for 9.0.0 "
        "and Xeon 8488C for 9.8.4.",
        f"▽ slower on unlike machines: ingest_rate, {_LESS}",
        _ALIKE,
    ),
    "a search": Prepared(
        _of_search,
        f"RocksDB: run {RUN}",
        "By ingest_rate 9.0.0 is the first version slower than 8.8.1 (−21.2 %, 95 % interval "
        "−30.3 % to −10.9 %); 8.10.0 is nearer to 8.8.1 than to 9.8.4.",
        "",
        "Find out what changed from 8.10.0 to 9.0.0. Profiles name the functions that grew:",
    ),
    "rate and CPU time": Prepared(
        _beside_cpu_time,
        _TITLE,
        "▼ 1 slower, = 2 same.",
        f"▼ slower: ingest_rate, {_LESS}",
        _CONFIRM.format("ingest_rate"),
    ),
}


class PreparedHistory(NamedTuple):
    """A history whose answer is known."""

    tables: Callable[[], Mapping[str, bytes]]
    """The objects of the tables, which the dashboard shows."""
    told: str
    """The sentences on its open regression."""


HISTORIES = {
    "a drift": PreparedHistory(
        partial(_history, [0.985**n for n in range(20)]),
        "ingest_rate has become 1.50 % slower a release since 9.2.0, 23.82 % in all: 525,274.6 "
        "instead of 689,500.0 records/s. Twelve releases or more show it, and none alone is to "
        "blame. Find out what changed since 9.1.0, or accept it with a reason: "
        "tidemark acknowledge 20260710T124455Z-000001.",
    ),
    "an open regression": PreparedHistory(
        partial(_history, [1.0] * 11 + [0.8] * 9),
        "ingest_rate has been 20.00 % slower since run 20260911T124455Z-00000a (9.11.0 after "
        "9.10.0): 560,000.0 instead of 700,000.0 records/s. Eight runs or more show it. Find out "
        "what changed from 9.10.0 to 9.11.0, or accept it with a reason: "
        "tidemark acknowledge 20260911T124455Z-00000a.",
    ),
}
