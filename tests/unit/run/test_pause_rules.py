"""Rules of an instance, paused by a step and enabled again by the end of trial or run."""

from contextlib import suppress

import pytest

from lambdas import clean_up_trial, end_run, pause_rules, prepare_trial, record_outcome
from tests.plans import RUN
from tests.unit.run.test_instances import EXECUTION, SUITE
from tidemark.model.refusal import Refused
from tidemark.model.steps import Pause, Step
from tidemark.run.pause_rules import pause
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

NAMES = ["kiwi-my-id-nightly", "my-id-compact", "my-id-idle"]
BEFORE = {"kiwi-my-id-nightly": True, "my-id-compact": True, "my-id-idle": False, "other": True}
PAUSED = dict.fromkeys(NAMES, False) | {"other": True}
TRIAL = {"run_id": RUN, "trial": 1}
RULES = ("kiwi-{instance}-nightly", "{instance}-compact", "{instance}-idle")
MOMENTS = 15


class Died(BaseException):
    """The death of a function, which no handler of errors sees."""


@pytest.fixture
def pausing(world, plan):
    """Store a run of an instance whose first step pauses rules."""
    steps = (Step(name="rest", pause=Pause(rules=RULES)), *SUITE.tests[0].every_step)
    tests = tuple(test.model_copy(update={"steps": steps}) for test in SUITE.tests)
    suite = SUITE.model_copy(update={"tests": tests})
    parameters = {"instance": "my-id", **plan.request.parameters}
    request = plan.request.model_copy(update={"parameters": parameters})
    trials = tuple(trial.model_copy(update={"version": "12.4"}) for trial in plan.trials)
    world.store(plan, suite=suite, request=request, trials=trials, execution_arn=EXECUTION)
    claim = Claim(run_id=RUN, execution_arn=EXECUTION, claimed_at=plan.started_at)
    claims.take(world.bucket, "rocksdb", claim)
    world.rules.states = dict(BEFORE)
    world.properties.texts = {"s3://kiwi-my-id/config": "kiwi.version=12.4"}
    return world


def at_each_moment(world, moment):
    world.bucket.moment = world.rules.moment = moment


def dies_at(world, number):
    """Let a function die at its so-many-th moment."""
    moments = iter(range(1, 1000))

    def moment():
        if next(moments) == number:
            raise Died

    at_each_moment(world, moment)


def revive(world):
    at_each_moment(world, lambda: None)


def begin(world):
    return world.call(pause_rules, {**TRIAL, "rules": NAMES})


def end(world):
    return world.call(clean_up_trial, {**TRIAL, "paused": True})


def die(world):
    """Let the execution die, and EndRun end its run."""
    world.executions.add(EXECUTION, "ABORTED", cause="by hand")
    detail = {"executionArn": EXECUTION, "status": "ABORTED"}
    return world.call(end_run, {"detail": detail})


def recorded(world):
    return keys.restore(RUN) in world.bucket.objects


def test_prepare_trial_names_the_rules_of_the_instance(pausing):
    first = pausing.call(prepare_trial, TRIAL)["tests"][0]["steps"][0]

    assert first == {"name": "rest", "rules": NAMES}


def test_rules_that_were_enabled_rest_until_the_end_of_the_trial(pausing):
    begin(pausing)
    assert (pausing.rules.states, recorded(pausing)) == (PAUSED, True)

    end(pausing)
    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)


def test_a_second_pause_forgets_no_rule_of_the_first(pausing):
    begin(pausing)
    begin(pausing)

    end(pausing)

    assert pausing.rules.states == BEFORE


def test_rules_that_were_disabled_before_stay_so(pausing):
    pausing.rules.states = dict(PAUSED)
    begin(pausing)
    end(pausing)

    assert (pausing.rules.states, recorded(pausing)) == (PAUSED, False)


def test_the_record_is_stored_before_a_rule_is_disabled(pausing):
    def moment():
        assert recorded(pausing)

    pausing.rules.moment = moment
    begin(pausing)


def test_a_rule_that_is_not_there_is_named_and_no_rule_is_disabled(pausing):
    with pytest.raises(Refused) as refused:
        pausing.call(pause_rules, {**TRIAL, "rules": [*NAMES, "my-id-absent"]})

    expected = "expected a rule that is ENABLED or DISABLED"
    assert str(refused.value) == f"pause: there is no rule my-id-absent; {expected}"
    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)


def test_a_rule_whose_state_nothing_could_restore_is_refused(pausing, monkeypatch):
    state = "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"
    monkeypatch.setattr(pausing.rules, "state", lambda _: state)

    with pytest.raises(Refused, match=f"^pause: the state of rule kiwi-my-id-nightly is {state}; "):
        begin(pausing)

    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)


@pytest.mark.parametrize("restore", [end, die])
@pytest.mark.parametrize("function", [begin, end])
def test_rules_are_enabled_again_whenever_a_function_dies(pausing, function, restore):
    objects = dict(pausing.bucket.objects)
    for number in range(1, MOMENTS):
        pausing.bucket.objects, pausing.rules.states = dict(objects), dict(BEFORE)
        if function is end:
            begin(pausing)
        dies_at(pausing, number)
        with suppress(Died):
            function(pausing)
        revive(pausing)

        restore(pausing)

        assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False), number


def test_all_moments_of_both_functions_are_tried(pausing):
    for function in (begin, end):
        dies_at(pausing, MOMENTS)
        function(pausing)


def test_the_end_of_a_run_enables_what_its_last_trial_could_not(pausing):
    begin(pausing)

    event = {
        "execution_arn": EXECUTION, "execution_name": "first", "run_id": RUN, "failure": None,
        "started_at": "2026-11-21T09:00:00.000Z", "now": "2026-11-21T10:00:00Z",
        "input": {"suite": "rocksdb"},
    }  # fmt: skip
    pausing.call(record_outcome, event)

    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)


def test_a_claim_stands_until_the_rules_are_enabled(pausing):
    begin(pausing)

    def moment():
        raise Died

    pausing.rules.moment = moment
    with pytest.raises(Died):
        die(pausing)
    assert claims.held_by(pausing.bucket, EXECUTION)
    revive(pausing)
    die(pausing)

    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)
    assert claims.held_by(pausing.bucket, EXECUTION) is None


def test_a_pause_that_the_end_of_its_run_overtakes_leaves_the_rules_enabled(pausing):
    overtaken = []

    def moment():
        if not overtaken and pausing.rules.states["kiwi-my-id-nightly"] is False:
            overtaken.append(True)
            die(pausing)

    pausing.rules.moment = moment
    pause(pausing.bucket, pausing.rules, RUN, NAMES)

    assert overtaken
    assert (pausing.rules.states, recorded(pausing)) == (BEFORE, False)


def test_a_trial_without_a_pause_asks_for_no_record(world):
    world.bucket.write(keys.restore(RUN), b'["other"]')

    world.call(clean_up_trial, TRIAL)

    assert recorded(world)
