"""Stored runs with two of everything, which one alone would hide.

There are two suites and sizes of each, databases, versions and more of both directions of metrics,
tests that failed, series of one value, and changes beyond ±100 %.
"""

from dataclasses import replace

from tests.unit.load_results import BASE, NEW, load_run
from tests.unit.measured_runs import failed, left_out, measured, planned, with_values
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.store.stored_run import StoredRun

LOAD, SMALLER_LOAD = "20261120T124455Z-abcdef", "20261121T124455Z-abcdef"
ENGINE, SMALLER_ENGINE = "20261122T124455Z-abcdef", "20261123T124455Z-abcdef"
OLDEST = "11.0"
LOAD_VERSIONS = (OLDEST, BASE, NEW)
ENGINE_VERSIONS = ("8.8.1", "9.0.0", "9.8.4")
# The factors of figures in the new version, by metric and operation.
_FACTORS = {
    ("latency", "TestRun.create"): 13.8,
    ("latency", "TestRun.filter"): 0.5,
    ("throughput", None): 2.6,
    ("load_cpu", None): 1.985,
    ("database_time", "TestRun.create"): 2.0,
}
# The new version scatters in these metrics: an end of the interval is beyond 100 %.
_WIDE = {"statements": (0.2, 6.0, 0.3, 4.0, 2.5), "load_late": (1.0, 1.1, 9.0, 0.2, 2.0)}


def loads() -> StoredRun:
    """Return the run of a load on two databases; one of its trials lacks its second test."""
    return load_run(5, _changed, name=LOAD)


def smaller_loads() -> StoredRun:
    """Return the run of a load of fewer users, of one trial a version."""
    return load_run(
        1, _changed, versions=list(LOAD_VERSIONS), name=SMALLER_LOAD, parameters={"users": 5}
    )


def engines() -> StoredRun:
    """Return the run of two tests; trials failed and are left out, and one version doubled."""
    plan = planned(ENGINE_VERSIONS, repetitions=6, tasks=2, name=ENGINE)
    trials = [_engine(trial) for trial in measured(plan)]
    last = [trial.trial for trial in trials if trial.version == "9.0.0"][-1]
    return StoredRun(plan, trials, left_out(last, "a neighbour was noisy"), [])


def smaller_engines() -> StoredRun:
    """Return the run of fewer records."""
    plan = planned(ENGINE_VERSIONS, repetitions=5, name=SMALLER_ENGINE, records=100_000)
    return StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])


def _engine(trial):
    if (trial.version, trial.repetition) == ("9.8.4", 2):
        return failed(trial)
    if trial.version == "9.8.4":
        ingest = [1_900_000 + 9_000 * trial.repetition + 400 * n for n in range(6)]
        return with_values(trial, "ingest", ingest)
    return trial


def _changed(trial, result):
    """Return the result of a load's test, with the changes of the new version."""
    rates = tuple(_rate(trial, rate) for rate in result.rates)
    # A page with all series and usages takes a browser three times as long.
    series = tuple(
        each
        if each.name == "active_users"
        else each.model_copy(update={"points": each.points[3:4]})
        for each in result.series
        if each.name in {"active_users", "latency_mean", "requests"}
    )
    first = result.usages[0].logged_at
    # Tasks that ended soon have one value of their usage.
    usages = tuple(
        replace(each, network_in=None, network_out=None, disk_read=None, disk_written=None)
        for each in result.usages
        if trial.version != OLDEST or each.logged_at == first
    )
    changed = result.model_copy(update={"rates": rates, "series": series, "usages": usages})
    if (trial.version, trial.repetition, result.test) == (NEW, 2, "unbounded"):
        none = tuple(rate.model_copy(update={"value": None}) for rate in rates)
        return changed.model_copy(
            update={"status": "failed", "reason": "exit code 1", "rates": none, "load": None}
        )
    return changed


def _rate(trial, rate):
    if trial.version != NEW:
        factor = 1 + 0.004 * ((7 * trial.trial) % 5 - 2)
    elif rate.metric in _WIDE:
        factor = _WIDE[rate.metric][trial.repetition - 1]
    else:
        known = _FACTORS.get((rate.metric, rate.labels.get("operation")), 1.02)
        factor = known * (1 + 0.03 * ((3 * trial.repetition) % 5 - 2))
    return rate.model_copy(update={"value": rate.value * factor})
