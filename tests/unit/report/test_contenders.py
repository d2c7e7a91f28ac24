"""The operations of a load by the share of the time that they take."""

from tests.unit.drawn_runs import engines
from tests.unit.load_results import NEW, load_run
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.versions import contenders


def slower(trial, result):
    """Return a result in which one operation is called often, and another one takes long."""
    factors = {"TestRun.filter": (1.0, 3), "TestRun.create": (2.0, 1)}
    rates = tuple(
        rate.model_copy(update={"value": rate.value * factor, "samples": rate.samples * times})
        for rate in result.rates
        for factor, times in [factors.get(rate.labels.get("operation"), (1.0, 1))]
    )
    return result.model_copy(update={"rates": rates}) if trial.version == NEW else result


def test_operations_are_ranked_by_their_calls_times_their_mean_time():
    (section,) = contenders(measured_run(load_run(2, slower, databases=("mariadb",))))

    latency = section.blocks[1]
    assert (
        latency.caption == "latency {database: mariadb} of bounded [ms], by the share of all time"
    )
    ranked = [(row.cells[0], row.cells[4], row.cells[6]) for row in latency.rows]
    assert ranked[:2] == [("TestRun.filter", "54", "42.4 %"), ("TestRun.create", "18", "32.4 %")]
    for column in (3, 6):
        shares = [float(row.cells[column].removesuffix(" %")) for row in latency.rows]
        assert abs(sum(shares) - 100) < 0.3


def test_a_run_without_operations_has_no_such_section():

    assert not list(contenders(measured_run(engines())))
