"""The model of a load, and its refusals."""

import math

import pytest
from pydantic import ValidationError

from cdk.permissions import needs_of
from tests.plans import plan_of
from tidemark.model.load import Bounds, Feedback, Load, Plateaus
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.steps import RunTasks, Step
from tidemark.model.suite import Test
from tidemark.model.suite_files import read_suites

FIELDS = {
    "agents": ("agent",), "query": "level", "limits": {"mean_ms": 100.0},
    "bounds": {"users": 100, "seconds": 600},
}  # fmt: skip
LOAD = Load(**FIELDS)


def load(**fields):
    return Load(**{**FIELDS, **fields})


def with_load(one):
    """Return RocksDB's suite whose first test has a load before its tasks."""
    suite = read_suites()["rocksdb"]
    ingest, *others = suite.tests
    steps = (Step(name="search", load=one), Step(name="ingest", run_tasks=RunTasks()))
    changed = ingest.model_copy(update={"steps": steps})
    return suite.model_copy(update={"tests": (changed, *others)})


def test_plateaus_are_the_rule_of_a_load_that_names_none():
    assert LOAD.rule == Plateaus()
    feedback = {"window_seconds": 60}
    assert load(feedback=feedback).rule == Feedback(**feedback)


def test_a_load_is_told_with_its_limits_times_rule_and_bounds():
    assert load(agent_limits={"cpu": 0.8}, plateaus={"searches": 1}).text == (
        "mean_ms up to 100, cpu up to 0.8; 5 s to settle and 10 s held; "
        "plateaus from 8 users, 1 search to 4 %; at most 100 users, 600 s, 60 levels"
    )
    assert load(feedback={"window_seconds": 60}).text == (
        "mean_ms up to 100; 5 s to settle and 10 s held; "
        "feedback by 8 users, level over 60 s; at most 100 users, 600 s, 60 levels"
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"plateaus": {}, "feedback": {}}, "there are plateaus and feedback; expected one of"),
        ({"limits": {"users": 1.0}}, "limits: users is a column of every load"),
        ({"limits": {"mean_ms": math.nan}}, r"(?s)limits.mean_ms.*finite number"),
        ({"agent_limits": {"cpu": math.inf}}, r"(?s)agent_limits.cpu.*finite number"),
        ({"recorded": ("level",)}, "recorded: level is a column of every load"),
        ({"agent_limits": {"mean_ms": 1.0}}, "mean_ms is given twice in limits, agent_limits and"),
        ({"agents": ("a", "a")}, "agents: a name is given twice in a, a"),
        ({"limits": {"connected": 1.0}}, "limits: connected is a limit of every load"),
        ({"feedback": {}}, r"window_seconds: 1800 is not accepted; expected 45 or more .* 600"),
        ({"feedback": {"window_seconds": 20}}, "20 is not accepted; expected 45 or more .three"),
        (
            {"feedback": {"window_seconds": 60, "step": 101}},
            "feedback.step: 101 is not accepted; expected 100 or less",
        ),
    ],
)
def test_fields_that_do_not_fit_each_other_are_refused(fields, sentence):
    with pytest.raises(ValidationError, match=sentence):
        load(**fields)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ([LOAD], "'agent' is not a service of the test; there are server"),
        ([load(agents=("server",))] * 2, "steps: there are several loads; expected one in a test"),
    ],
)
def test_a_test_with_a_load_has_its_agents_and_no_other_load(steps, sentence):
    loads = tuple(Step(name=f"s{n}", load=one) for n, one in enumerate(steps))
    tasks = Step(name="report", run_tasks=RunTasks())
    metric = plan_of({}).suite.tests[0].metrics[0]

    with pytest.raises(ValidationError, match=sentence):
        Test(
            name="t", timeout_seconds=10, services=("server",), steps=(*loads, tasks),
            metrics=(metric,),
        )  # fmt: skip


def test_a_load_with_more_levels_than_the_history_of_a_trial_holds_is_refused_beforehand():
    suites = {"rocksdb": with_load(LOAD)}
    bounds = Bounds(users=100, seconds=600, levels=120)

    assert resolve_request({"suite": "rocksdb"}, suites)
    with pytest.raises(Refused, match=r"the history of a trial holds 24900$"):
        resolve_request({"suite": "rocksdb"}, {"rocksdb": with_load(load(bounds=bounds))})


def test_check_condition_may_write_levels_where_a_suite_has_a_load_and_nowhere_else():
    without, with_one = (
        needs_of([suite])["CheckCondition"].writes for suite in (plan_of({}).suite, with_load(LOAD))
    )

    assert (without, {*with_one}) == ((), {"work/courses/*", "work/data/*/levels/*"})
