"""Any input of an execution: PlanRun plans a run, or refuses the input and writes nothing."""

import json

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from lambdas import plan_run, record_outcome
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.request import RunRequest

EXECUTION = {
    "execution_arn": "arn:aws:states:eu-west-2:1:execution:Run:by-hand",
    "execution_name": "by-hand",
    "started_at": "2026-11-20T12:44:55.123Z",
}
texts = st.text(st.characters(), max_size=10) | st.sampled_from(
    ["rocksdb", "9.0.0", "9.0.0\n", "９.0.0", "../x", "$(x)", "\ud800", "\0", "x" * 100_000]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
inputs = values | st.fixed_dictionaries(
    {"suite": st.just("rocksdb") | texts},
    optional={name: values for name in RunRequest.model_fields if name != "suite"}
    | {"versions": st.lists(texts, max_size=2), "repetitions": st.integers(-1, 101)},
)


@pytest.mark.usefixtures("packed")
@fuzz(200)
@given(execution_input=inputs)
def test_any_input_is_planned_or_refused_with_only_an_outcome(world, execution_input):
    world.bucket.objects.clear()
    try:
        planned = world.call(plan_run, {**EXECUTION, "input": execution_input})
    except Refused as refused:
        cause = json.dumps({"errorMessage": str(refused), "errorType": type(refused).__name__})
    else:
        claim, key = sorted(world.bucket.objects)
        assert claim == "claims/rocksdb.json"
        plan = Plan.model_validate_json(world.bucket.objects[key])
        assert (key, len(plan.trials)) == (f"runs/{plan.run_id}/plan.json", planned["trials"])
        return
    assert world.bucket.objects == {}
    ended = world.call(
        record_outcome,
        {
            **EXECUTION,
            "run_id": None,
            "now": "2026-11-20T12:44:56.000Z",
            "input": execution_input,
            "failure": {"Error": "Refused", "Cause": cause},
        },
    )
    assert ended["status"] == "rejected"
    assert ended["reason"] == json.loads(cause)["errorMessage"]
    assert list(world.bucket.objects) == [f"runs/{ended['run_id']}/outcome.json"]
