"""The dashboard's sheets: what each shows, with which choices and words."""

from __future__ import annotations

from functools import cache

from tidemark.dashboard.data_sets import (
    BY_RUN,
    BY_VERSION,
    CHANGES,
    EVENTS,
    OMISSIONS,
    PAIRS,
    RUNS,
    SAMPLES,
    TRIALS,
    UNFINISHED,
    WEEKS,
    Column,
)
from tidemark.dashboard.model import Control, Dashboard, FilterGroup, Sheet
from tidemark.dashboard.visuals import (
    Sized,
    choice,
    days,
    filters,
    gain_bars,
    heat_map_of_versions,
    kpi,
    line_charts,
    pivot_of_versions,
    sheet,
    table,
    text_box,
    week_bars,
    worst_change,
)
from tidemark.model.metric import Metric
from tidemark.report.rule import rule

_RULE = rule([Metric(name="rate", unit="records/s", direction="higher", query="rate")])
_UNLIKE = (
    "If tests differed in size (tasks × records of each), the table says so: the size may be the "
    "cause of the change. If no run measured both versions, differences between runs look like "
    "differences between versions."
)
_ONE_OF_TWO = "A metric that only one of the two has shows no change"
_WORST = "The worst change of any metric, with or without a verdict"
_UNTOLD = "Metrics without a verdict; the table has the reasons"
# The columns of a comparison that have one label on both sheets.
_CHANGE = {
    "rate": "Metric",
    "effect": "Δ",
    "qualified_verdict": "Verdict",
    "reason": "Reason",
    "unlike": "Unlike",
    "suite": "Suite",
    "base_version": "Base",
}
_INTERVAL = {"low": "From (95 %)", "high": "To (95 %)"}


@cache
def dashboard() -> Dashboard:
    """Return the dashboard; raise KeyError for a column that its data set lacks."""
    return Dashboard(
        parameters={
            "Suite": "",
            "Test": "",
            "Since": "2000-01-01",
            "Until": "2100-12-31",
            "Base": "previous",
            "New": "newest",
            "Run": "newest",
        },
        sheets=(_rates(), _compare(), _history(), _run(), _health()),
        groups=_filters(),
    )


def _suite_and_test(name: str, data_set: str) -> tuple[Control, Control]:
    return choice(name, "Suite", data_set), choice(name, "Test", data_set, "Suite")


def _rates() -> Sheet:
    controls = (*_suite_and_test("rates", BY_VERSION), *days("rates", "Measured"))
    elements = (
        kpi(
            "slower",
            "Got slower",
            "Metrics of the newest version of each suite, by their verdict",
            "Number of metrics of the newest versions that are slower than in their base.",
            sum_of=Column(PAIRS, "slower"),
        ),
        worst_change(
            "worst-change",
            "Worst change against the base",
            _WORST,
            "The worst change of any metric of the newest versions against their base.",
        ),
        kpi(
            "untold",
            "Cannot tell",
            _UNTOLD,
            "Number of metrics of the newest versions without a verdict.",
            sum_of=Column(PAIRS, "untold"),
        ),
        gain_bars(
            "newest-gains",
            "The newest version against its base",
            "From its base to the newest version, with the 95 % interval; left of zero is worse, "
            "for every metric",
            "A bar for each metric: its change from its base to the newest version, with its "
            "interval; left of zero is worse.",
        ),
        table(
            "newest",
            "Figures of the newest version and its base",
            _ONE_OF_TWO,
            "For each suite and metric: the newest version, its base, both rates with spread and "
            "trials, the change, its verdict and its 95 % interval.",
            data_set=PAIRS,
            rows=9,
            columns={
                **_CHANGE,
                "new_version": "Newest",
                **_INTERVAL,
                "base_trials": "Trials of base",
                "new_trials": "Trials",
                "base_mean": "Mean of base",
                "new_mean": "Mean",
                "base_stddev": "± of base",
                "new_stddev": "±",
                "last_at": "Last trial",
            },
            order=["suite", "rate"],
        ),
        text_box(
            "rates-explanation",
            "A rate is the mean of its trials, ± their standard deviation, in the newest run that "
            "measured both versions. If no run measured both, the rates are from the newest "
            f"run of each, and there is no verdict. {_RULE} Excluded trials do not count. "
            f"{_UNLIKE} Newest is by version, not by date. Its base is the baseline of its newest "
            "run, or else the version before.",
        ),
        line_charts(
            "history",
            "Rates by version",
            "Mean of the trials of each version and size, and the least and the largest trial",
            "For each metric a chart: mean, least and largest rate of each version, the versions "
            "in their order.",
            category=Column(BY_VERSION, "version"),
            label="Version",
            order="version_rank",
        ),
        line_charts(
            "run-history",
            "Rates by run",
            "The newest version in each of the newest 100 runs: mean, least and largest trial",
            "For each metric a chart: mean, least and largest rate of the newest version in each "
            "run, the runs in their order.",
            category=Column(BY_RUN, "run_id"),
            called="run",
            label="Run",
        ),
        _level_changes(),
        pivot_of_versions(
            "versions",
            "Every version",
            "The mean rate of the trials of each size, and when they were last measured",
            "For each version and size of trials the day of the last trial and the mean rate of "
            "each metric.",
        ),
    )
    return sheet("rates", "Rates per version", "Did this version get slower?", controls, elements)


def _level_changes() -> Sized:
    return table(
        "changes",
        "Changes of level over runs",
        "A level of three runs or more is new, and of eight is lasting; the newest run alone is "
        "suspected, and the next one confirms it",
        "For each change of level: the metric, its change, its cause, the versions and levels "
        "before and after it, the accepted level, the size, and until when and why a new level is "
        "accepted.",
        data_set=CHANGES,
        rows=9,
        columns={
            "rate": "Metric",
            "change": "Δ",
            "verdict": "Verdict",
            "state": "State",
            "cause": "Cause",
            "version": "Version",
            "version_before": "Before",
            "mended_version": "Mended in",
            "level_before": "Level before",
            "level_after": "Level",
            "accepted_level": "Accepted level",
            "changed_at": "Since",
            "changed_run": "Since run",
            "acknowledged_until": "Accepted until",
            "acknowledged_reason": "Reason for acceptance",
            "sizes": "Tasks × records",
            "suite": "Suite",
        },
        order=["-changed_run", "rate"],
    )


def _history() -> Sheet:
    controls = (choice("releases", "Suite", EVENTS), *days("releases", "Changed"))
    elements = (
        kpi(
            "open",
            "Open regressions",
            "Slower levels that nobody mended or accepted",
            "Number of slower levels that no release mended and nobody accepted.",
            sum_of=Column(EVENTS, "still_open"),
        ),
        kpi(
            "became-slower",
            "Slower levels",
            "Figures that a release made slower, whether mended since or not",
            "Number of figures that a release made slower, added up over releases.",
            sum_of=Column(EVENTS, "slower"),
        ),
        kpi(
            "mended",
            "Mended",
            "Slower levels that a later release mended",
            "Number of slower levels that a later release mended.",
            sum_of=Column(EVENTS, "mended"),
        ),
        text_box(
            "releases-explanation",
            "The median of the trials of each run is a point of its history. A level begins at a "
            "release if the points after it lie apart from those before; the newest run alone is "
            "suspected. docs/history.md has the evidence that each state needs.",
        ),
        table(
            "events",
            "Events of releases",
            "One line for each release that changed a level, over all figures of its suite",
            "For each release: how many figures became slower and faster, their median change, "
            "the largest change, and how many slower levels are still open.",
            data_set=EVENTS,
            rows=10,
            columns={
                "version": "Version",
                "slower": "Slower",
                "slower_by": "Median of slower",
                "faster": "Faster",
                "faster_by": "Median of faster",
                "figures": "Of",
                "largest": "Largest",
                "largest_change": "Δ",
                "still_open": "Still open",
                "mended": "Mended since",
                "state": "State",
                "changed_at": "Day",
                "changed_run": "Run",
                "suite": "Suite",
            },
            order=["-changed_run"],
        ),
        heat_map_of_versions(
            "heat",
            "Versions against the usual figure",
            "The gain of each version on the geometric mean of all versions; red is worse",
            "For each metric a line, and for each version a cell: its gain on the geometric mean "
            "of all versions.",
        ),
        table(
            "omissions",
            "Left out, and not told yet",
            "Runs that no history counts, figures of too few runs, and suspicions that are gone",
            "For each figure a sentence on what its history leaves out or cannot tell.",
            data_set=OMISSIONS,
            rows=9,
            columns={"rate": "Metric", "sentence": "Not told", "suite": "Suite"},
            order=["suite", "rate"],
        ),
    )
    return sheet("releases", "History", "Which releases changed a level?", controls, elements)


def _compare() -> Sheet:
    controls = (
        choice("compare", "Base", PAIRS, "Suite", label="Base (the older one)", one=True),
        choice("compare", "New", PAIRS, "Suite", "Base", one=True),
        *_suite_and_test("compare", PAIRS),
        *days("compare", "Measured"),
    )
    elements = (
        kpi(
            "compare-slower",
            "Got slower",
            "Metrics of the new version, by their verdict",
            "Number of metrics of the new version that are slower than in the base.",
            sum_of=Column(PAIRS, "slower"),
        ),
        worst_change(
            "compare-worst",
            "Worst change",
            _WORST,
            "The worst change of any metric from base to new.",
        ),
        kpi(
            "compare-untold",
            "Cannot tell",
            _UNTOLD,
            "Number of metrics without a verdict.",
            sum_of=Column(PAIRS, "untold"),
        ),
        gain_bars(
            "gains",
            "Change of each metric",
            "From base to new, with the 95 % interval; left of zero is worse, for every metric",
            "A bar for each metric: its change from base to new, with its interval; left of zero "
            "is worse.",
        ),
        text_box(
            "compare-explanation",
            "The newest 15 versions of a suite can be compared, each with an older one; previous "
            "and newest are the last two, and base is what the newest is compared with: the "
            "baseline of its run, or else previous. A metric that only one of the two has is "
            f"listed without a change. {_UNLIKE} Rates and verdict are from the newest run "
            f"that measured both. {_RULE}",
        ),
        table(
            "pairs",
            "Base and new",
            _ONE_OF_TWO,
            "For each metric: base and new with spread, trials, least and largest trial, the "
            "change, its verdict and its 95 % interval.",
            data_set=PAIRS,
            rows=12,
            columns={
                **_CHANGE,
                "new_version": "New",
                **_INTERVAL,
                "base_trials": "Base trials",
                "new_trials": "New trials",
                "base_mean": "Mean of base",
                "new_mean": "Mean of new",
                "base_stddev": "± base",
                "new_stddev": "± new",
            },
            order=["suite", "rate"],
        ),
    )
    title = "Changes between two versions"
    return sheet("compare", "Compare two versions", title, controls, elements)


def _run() -> Sheet:
    controls = (
        choice("run", "Run", RUNS, "Suite", one=True),
        choice("run", "Suite", RUNS),
        choice("run", "Test", TRIALS, "Suite"),
    )
    elements = (
        table(
            "run-facts",
            "The run",
            "Its request, and how it ended",
            "The run: suite, versions, repetitions, tasks, records, status and reason.",
            data_set=RUNS,
            rows=6,
            columns={
                "suite": "Suite",
                "run_id": "Run",
                "status": "Status",
                "reason": "Reason",
                "versions": "Versions",
                "baseline": "Baseline",
                "repetitions": "Repetitions",
                "tasks": "Tasks",
                "records": "Records",
                "trials_planned": "Trials planned",
                "trials_done": "Trials done",
                "started_at": "Started (UTC)",
                "ended_at": "Ended (UTC)",
                "trigger": "Started by",
                "note": "Note",
            },
            order=["suite", "-run_id"],
        ),
        table(
            "run-cost",
            "Time and cost",
            "At AWS's list prices, also for a run on one machine",
            "Time and cost of the run: its seconds, its tasks' seconds, bytes scanned and USD.",
            data_set=RUNS,
            rows=6,
            columns={
                "suite": "Suite",
                "run_id": "Run",
                "seconds": "Seconds",
                "task_seconds": "Seconds of tasks",
                "insights_bytes": "Bytes scanned by log queries",
                "cost_usd": "Cost (USD)",
                "tidemark_version": "Tidemark",
            },
            order=["suite", "-run_id"],
        ),
        text_box(
            "run-explanation",
            "This sheet has the newest five runs of each suite, with every trial and every sample. "
            "Older runs are in their own reports and in the tables of Athena. The rate of a trial "
            "is the mean of its samples; a trial has a rate only if every task did all its work.",
        ),
        table(
            "failures",
            "Trials that do not count",
            "Failed, incomplete or excluded",
            "Trials without a rate and excluded trials, each with the reason.",
            data_set=TRIALS,
            rows=7,
            columns={
                "suite": "Suite",
                "trial": "Trial",
                "version": "Version",
                "test": "Test",
                "status": "Status",
                "counts": "Counts",
                "reason": "Reason",
                "samples": "Samples",
                "expected": "Expected",
                "not_finite": "No number",
            },
            order=["suite", "trial"],
        ),
        line_charts(
            "trials",
            "Rates by trial",
            "Mean, least and largest sample of each trial, in the order in which they were "
            "measured",
            "For each metric a chart: mean, least and largest sample of each trial, in order.",
            category=Column(TRIALS, "name"),
            mean="value",
            label="Trial",
            order="trial",
            points=True,
        ),
        _trials_and_machines(),
        _samples(),
    )
    return sheet("run", "Run", "Measurements of this run", controls, elements)


def _trials_and_machines() -> Sized:
    return table(
        "machines",
        "Every trial, and its machine",
        "A changed machine is the most common cause of a false regression",
        "For each trial: rate, samples, time, processor, package and image.",
        data_set=TRIALS,
        rows=12,
        columns={
            "suite": "Suite",
            "trial": "Trial",
            "version": "Version",
            "rate": "Metric",
            "value": "Rate",
            "counts": "Counts",
            "stddev": "± of samples",
            "samples": "Samples",
            "span_seconds": "Seconds",
            "cpu_model": "Processor",
            "arch": "Architecture",
            "package": "Package",
            "image_digest": "Image",
            "environment": "Digest of environment",
        },
        order=["suite", "trial", "rate"],
    )


def _samples() -> Sized:
    return table(
        "samples",
        "Every sample",
        "Each rate line of each task's log",
        "Every sample: trial, version, metric, task, job, time, value and the machine.",
        data_set=SAMPLES,
        rows=16,
        columns={
            "suite": "Suite",
            "trial": "Trial",
            "version": "Version",
            "name": "Metric",
            "logged_at": "Logged (UTC)",
            "task_id": "Task",
            "job": "Job",
            "value": "Value",
            "value_text": "As logged",
            "records": "Records",
            "counts": "Counts",
            "cpu_model": "Processor",
            "host": "Host",
            "zone": "Zone",
        },
        order=["suite", "trial", "name", "logged_at"],
        names={"name": "metric"},
    )


def _health() -> Sheet:
    controls = (choice("health", "Suite", WEEKS), *days("health", "Started"))
    elements = (
        kpi(
            "not-complete",
            "Runs not complete",
            "Incomplete, failed or stopped",
            "Number of runs that did not complete.",
            sum_of=Column(WEEKS, "not_complete"),
        ),
        kpi(
            "trials-missing",
            "Trials missing",
            "Planned, and not done",
            "Number of trials that were planned and not done.",
            sum_of=Column(WEEKS, "trials_missing"),
        ),
        kpi(
            "weeks-missing",
            "Weeks without a run",
            "Between the runs of a suite",
            "Number of weeks without a run, between two runs of a suite.",
            sum_of=Column(WEEKS, "weeks_without_run"),
        ),
        week_bars(
            "weeks",
            "Runs by week",
            "By how they ended",
            "A bar for each week: its runs, by how they ended.",
        ),
        text_box(
            "health-explanation",
            "A run that is not complete was incomplete, failed or stopped; its finished trials are "
            "kept and count. Weeks are listed up to the newest run of a suite. A schedule that was "
            "missed since then raises an alarm and is not listed here.",
        ),
        table(
            "unfinished",
            "Runs that did not complete",
            "The newest 50 of each suite",
            "The runs that did not complete, the newest first: status, reason, and the trials that "
            "are missing.",
            data_set=UNFINISHED,
            rows=14,
            columns={
                "suite": "Suite",
                "run_id": "Run",
                "status": "Status",
                "reason": "Reason",
                "trials_missing": "Trials missing",
                "trials_planned": "Trials planned",
                "versions": "Versions",
                "started_at": "Started (UTC)",
                "trigger": "Started by",
                "note": "Note",
            },
            order=["-run_id"],
        ),
    )
    return sheet("health", "Health", "Did all runs complete?", controls, elements)


def _filters() -> tuple[FilterGroup, ...]:
    chosen = ("Suite", "Test")
    newest = {"base": "base", "new": "newest"}
    return (
        filters("history", "rates", BY_VERSION, *chosen, time="last_at"),
        filters("run-history", "rates", BY_RUN, *chosen, time="run_started_at"),
        filters("changes", "rates", CHANGES, *chosen, time="changed_at"),
        filters("newest", "rates", PAIRS, *chosen, time="last_at", equals=newest),
        filters("compare", "compare", PAIRS, "Base", "New", *chosen, time="last_at"),
        filters("events", "releases", EVENTS, "Suite", time="changed_at"),
        filters("heat", "releases", BY_VERSION, "Suite"),
        filters("omissions", "releases", OMISSIONS, "Suite"),
        filters("run", "run", RUNS, "Run", "Suite"),
        filters("trials", "run", TRIALS, "Run", *chosen),
        filters("failures", "run", TRIALS, differs={"counts": "yes"}, visuals=("failures",)),
        filters("samples", "run", SAMPLES, "Run", *chosen),
        filters("weeks", "health", WEEKS, "Suite", time="week"),
        filters("unfinished", "health", UNFINISHED, "Suite", time="started_at"),
    )
