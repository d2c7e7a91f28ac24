"""The run of states: one test for each rule of the language."""

import asyncio

import pytest

from onebox.asl.errors import StateError

WORK = "arn:aws:states:::test:work"
ERROR = "{% $states.errorOutput.Error %}"


def task(**fields):
    return {"Type": "Task", "Resource": WORK} | ({} if "Next" in fields else {"End": True}) | fields


def map_state(states, **fields):
    processor = {
        "ProcessorConfig": {"Mode": "INLINE"},
        "StartAt": next(iter(states)),
        "States": states,
    }
    return {"Type": "Map", "ItemProcessor": processor, "End": True} | fields


def failing(*names, then="done"):
    """Return an integration that fails once with each error, in order, and then succeeds."""
    remaining = list(names)

    async def work(arguments, task):
        if remaining:
            raise StateError(remaining.pop(0), "because")
        return then

    return work


class Endless:
    """An integration that runs until it is stopped, and logs its starts and stops."""

    def __init__(self):
        self.log = []

    async def __call__(self, arguments, task):
        self.log.append(f"started {arguments}")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)
            self.log.append(f"stopped {arguments}")


# Pass, Succeed, Fail, Wait, Choice


def test_a_pass_state_passes_on_its_input(lab):
    states = {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Succeed"}}
    execution = lab.run(states, {"a": 1})
    assert (execution.status, execution.output) == ("SUCCEEDED", {"a": 1})


def test_an_output_of_null_is_null_and_not_the_input(lab):
    assert lab.evaluate(None, {"a": 1}) is None


def test_a_succeed_state_may_have_an_output(lab):
    states = {"A": {"Type": "Succeed", "Output": "{% $states.input + 1 %}"}}
    assert lab.run(states, 1).output == 2


def test_a_fail_state_fails_the_execution_with_its_error_and_cause(lab):
    states = {"A": {"Type": "Fail", "Error": "{% 'My' & $states.input %}", "Cause": "why"}}
    execution = lab.run(states, "Error")
    assert (execution.status, execution.error, execution.cause) == ("FAILED", "MyError", "why")
    assert lab.kinds(execution)[-2:] == ["FailStateEntered", "ExecutionFailed"]


@pytest.mark.parametrize("seconds", [90, "{% 30 * $states.input %}"])
def test_a_wait_state_passes_its_seconds(lab, seconds):
    execution = lab.run({"A": {"Type": "Wait", "Seconds": seconds, "End": True}}, 3)
    assert (execution.stopped - execution.started).total_seconds() == 90
    assert execution.output == 3


@pytest.mark.parametrize("seconds", ["{% -1 %}", "{% 1.5 %}", "{% 'soon' %}", "{% true %}"])
def test_a_wait_of_anything_but_whole_seconds_fails(lab, seconds):
    execution = lab.run({"A": {"Type": "Wait", "Seconds": seconds, "End": True}})
    assert execution.error == "States.QueryEvaluationError"


def choice(**fields):
    rules = [
        {"Condition": "{% $states.input > 10 %}", "Next": "Big", "Output": "big"},
        {"Condition": "{% $states.input > 5 %}", "Next": "End", "Assign": {"size": "middle"}},
    ]
    return {
        "A": {"Type": "Choice", "Choices": rules} | fields,
        "Big": {"Type": "Succeed", "Output": "{% $states.input & '!' %}"},
        "End": {"Type": "Succeed", "Output": "{% $exists($size) ? $size : 'small' %}"},
    }


@pytest.mark.parametrize(("value", "output"), [(11, "big!"), (6, "middle"), (1, "small")])
def test_a_choice_takes_the_first_rule_that_holds_else_its_default(lab, value, output):
    assert lab.run(choice(Default="End"), value).output == output


def test_a_choice_without_a_matching_rule_or_a_default_fails(lab):
    assert lab.run(choice(), 1).error == "States.NoChoiceMatched"


def test_a_condition_that_is_not_a_boolean_fails(lab):
    rules = [{"Condition": "{% 1 %}", "Next": "B"}]
    states = {"A": {"Type": "Choice", "Choices": rules}, "B": {"Type": "Succeed"}}
    assert lab.run(states).error == "States.QueryEvaluationError"


# Variables and the context object


def test_assignments_and_output_see_the_variables_as_they_were_on_entry(lab):
    states = {
        "A": {"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "B"},
        "B": {
            "Type": "Pass",
            "Assign": {"x": "{% $y %}", "y": "{% $x %}"},
            "Output": "{% [$x, $y] %}",
            "Next": "C",
        },
        "C": {"Type": "Pass", "Output": "{% [$states.input, $x, $y] %}", "End": True},
    }
    assert lab.run(states).output == [1, 2, 2, 1]


def test_an_iteration_sees_outer_variables_and_hides_its_own(lab):
    inner = {
        "Count": {
            "Type": "Pass",
            "Assign": {"own": "{% $states.input + $around %}"},
            "Next": "Say",
        },
        "Say": {"Type": "Pass", "Output": "{% $own %}", "End": True},
    }
    states = {
        "A": {"Type": "Pass", "Assign": {"around": 10}, "Next": "M"},
        "M": map_state(inner, Items=[1, 2], Next="B") | {"End": True},
        "B": {"Type": "Pass", "Output": "{% [$states.input, $exists($own)] %}", "End": True},
    }
    del states["M"]["End"]
    assert lab.run(states).output == [11, 12, False]


def test_the_context_object_names_execution_machine_and_state(lab):
    wait = {"Type": "Wait", "Seconds": 1, "Next": "B"}
    context = {"Type": "Pass", "Output": "{% $states.context %}", "End": True}
    assert lab.run({"A": wait, "B": context}, {"a": 1}).output == {
        "Execution": {
            "Id": "execution-arn",
            "Input": {"a": 1},
            "Name": "run",
            "RoleArn": "role",
            "StartTime": "2026-11-20T00:00:00.000Z",
        },
        "StateMachine": {"Id": "machine-arn", "Name": "machine"},
        "State": {"Name": "B", "EnteredTime": "2026-11-20T00:00:01.000Z", "RetryCount": 0},
    }


# Task


def test_a_task_gets_its_arguments_and_sets_its_output_and_variables(lab):
    async def double(arguments, task):
        return {"twice": 2 * arguments["n"]}

    lab.integrations[WORK] = double
    work = task(
        Arguments={"n": "{% $states.input.n %}"},
        Assign={"kept": "{% $states.result.twice %}"},
        Output={"was": "{% $states.input.n %}", "is": "{% $states.result.twice %}"},
        Next="B",
    )
    states = {
        "A": work,
        "B": {"Type": "Pass", "Output": "{% [$states.input, $kept] %}", "End": True},
    }
    assert lab.run(states, {"n": 4}).output == [{"was": 4, "is": 8}, 8]


def test_a_task_without_arguments_gets_its_input_and_returns_its_result(lab):
    async def echo(arguments, task):
        return [arguments]

    lab.integrations[WORK] = echo
    assert lab.run({"A": task()}, "in").output == ["in"]


def test_an_uncaught_error_fails_the_execution(lab):
    lab.integrations[WORK] = failing("Custom")
    execution = lab.run({"A": task(Catch=[{"ErrorEquals": ["Other"], "Next": "A"}])})
    assert (execution.status, execution.error, execution.cause) == ("FAILED", "Custom", "because")


@pytest.mark.parametrize(
    ("error", "names", "caught"),
    [
        ("Custom", ["Other", "Custom"], True),
        ("Custom", ["States.ALL"], True),
        ("Custom", ["States.TaskFailed"], True),
        ("States.TaskFailed", ["States.TaskFailed"], True),
        ("States.Timeout", ["States.TaskFailed"], False),
        ("States.Timeout", ["States.ALL"], True),
        ("States.Timeout", ["States.Timeout"], True),
        ("States.Runtime", ["States.ALL"], False),
        ("States.Runtime", ["States.TaskFailed"], False),
        ("States.Runtime", ["States.Runtime"], False),
        ("States.DataLimitExceeded", ["States.ALL"], False),
        ("States.DataLimitExceeded", ["States.TaskFailed"], False),
        ("States.DataLimitExceeded", ["States.DataLimitExceeded"], True),
        ("custom", ["Custom"], False),
    ],
)
def test_a_catch_matches_errors_as_documented(lab, error, names, caught):
    lab.integrations[WORK] = failing(error)
    states = {
        "A": task(Catch=[{"ErrorEquals": names, "Next": "B"}]),
        "B": {"Type": "Succeed", "Output": "{% $states.input.Error %}"},
    }
    execution = lab.run(states)
    assert execution.status == ("SUCCEEDED" if caught else "FAILED")
    assert (execution.output if caught else execution.error) == error


def test_a_catch_passes_on_the_error_or_its_own_output_and_variables(lab):
    lab.integrations[WORK] = failing("Custom", "Custom")
    catch = {"ErrorEquals": ["Custom"], "Next": "B"}
    fields = {
        "Assign": {"seen": ERROR},
        "Output": "{% $states.input & $states.errorOutput.Cause %}",
    }
    end = {"Type": "Succeed", "Output": "{% [$states.input, $exists($seen) ? $seen] %}"}
    assert lab.run({"A": task(Catch=[catch]), "B": end}, "in").output == [
        {"Error": "Custom", "Cause": "because"}
    ]
    assert lab.run({"A": task(Catch=[catch | fields]), "B": end}, "in").output == [
        "inbecause",
        "Custom",
    ]


@pytest.mark.parametrize(("field", "value"), [("Arguments", "{% $x %}"), ("Output", "{% $x %}")])
def test_a_query_that_fails_in_a_task_can_be_caught(lab, field, value):
    lab.integrations[WORK] = failing()
    catch = {"ErrorEquals": ["States.QueryEvaluationError"], "Next": "B"}
    execution = lab.run({"A": task(Catch=[catch], **{field: value}), "B": {"Type": "Succeed"}})
    assert execution.output["Error"] == "States.QueryEvaluationError"
    assert "$x" in execution.output["Cause"]


def seconds_to_end(lab, *errors, **retrier):
    lab.integrations[WORK] = failing(*errors)
    execution = lab.run({"A": task(Retry=[{"ErrorEquals": ["States.ALL"]} | retrier])})
    return execution.status, (execution.stopped - execution.started).total_seconds()


def test_a_retry_waits_longer_each_time(lab):
    assert seconds_to_end(lab, "E", "E", "E") == ("SUCCEEDED", 1 + 2 + 4)
    assert seconds_to_end(lab, "E", "E", IntervalSeconds=60, BackoffRate=1.5) == ("SUCCEEDED", 150)
    assert seconds_to_end(lab, "E", "E", "E", MaxDelaySeconds=2) == ("SUCCEEDED", 1 + 2 + 2)
    assert seconds_to_end(lab, "E", "E", JitterStrategy="FULL") == ("SUCCEEDED", 1.5)


def test_a_retry_gives_up_after_its_attempts(lab):
    assert seconds_to_end(lab, *"EEEE") == ("FAILED", 7)
    assert seconds_to_end(lab, "E", MaxAttempts=0) == ("FAILED", 0)


def test_each_retrier_counts_its_attempts_and_a_catch_follows_the_last(lab):
    lab.integrations[WORK] = failing("A", "B", "A", "B")
    retry = [
        {"ErrorEquals": ["A"], "MaxAttempts": 2, "IntervalSeconds": 10, "BackoffRate": 1},
        {"ErrorEquals": ["B"], "MaxAttempts": 1, "IntervalSeconds": 100},
    ]
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B", "Output": [ERROR]}]
    execution = lab.run({"A": task(Retry=retry, Catch=catch), "B": {"Type": "Succeed"}})
    assert execution.output == ["B"]
    assert (execution.stopped - execution.started).total_seconds() == 120


def test_the_context_counts_the_retries(lab):
    counts = []

    async def work(arguments, task):
        counts.append(arguments)
        raise StateError("E")

    lab.integrations[WORK] = work
    retry = [{"ErrorEquals": ["E"], "MaxAttempts": 2}]
    lab.run({"A": task(Arguments="{% $states.context.State.RetryCount %}", Retry=retry)})
    assert counts == [0, 1, 2]


def test_a_task_that_takes_too_long_is_stopped_and_reports_a_time_out(lab):
    lab.integrations[WORK] = endless = Endless()
    catch = [{"ErrorEquals": ["States.Timeout"], "Next": "B"}]
    states = {
        "A": task(TimeoutSeconds="{% $states.input %}", Catch=catch),
        "B": {"Type": "Succeed"},
    }
    execution = lab.run(states, 30)
    assert execution.output == {"Error": "States.Timeout", "Cause": ""}
    assert endless.log == ["started 30", "stopped 30"]
    assert "TaskTimedOut" in lab.kinds(execution)


def test_a_time_out_after_a_caught_map_failure_is_still_a_time_out(lab):
    lab.integrations[WORK] = Endless()
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    inner = {"F": {"Type": "Fail", "Error": "E"}}
    states = {"A": map_state(inner, Items=[1, 2], Catch=catch), "B": task(TimeoutSeconds=5)}
    assert lab.run(states).error == "States.Timeout"


# Map


def test_a_map_returns_the_outputs_in_the_order_of_its_items(lab):
    inner = {
        "W": {"Type": "Wait", "Seconds": "{% 10 - $states.input %}", "Next": "P"},
        "P": {"Type": "Pass", "Output": "{% $states.input * 2 %}", "End": True},
    }
    execution = lab.run({"M": map_state(inner, Items="{% [1..3] %}")})
    assert execution.output == [2, 4, 6]
    assert (execution.stopped - execution.started).total_seconds() == 9


def test_a_map_of_one_item_returns_an_array_of_one_output(lab):
    inner = {"P": {"Type": "Pass", "End": True}}
    assert lab.run({"M": map_state(inner)}, ["only"]).output == ["only"]
    assert lab.run({"M": map_state(inner)}, []).output == []


def test_a_map_of_anything_but_an_array_fails(lab):
    inner = {"P": {"Type": "Pass", "End": True}}
    assert lab.run({"M": map_state(inner)}, {"a": 1}).error == "States.QueryEvaluationError"


@pytest.mark.parametrize(("width", "seconds"), [(1, 4), (2, 2), ("{% 3 %}", 2), (0, 1)])
def test_a_map_runs_at_most_max_concurrency_items_at_once(lab, width, seconds):
    inner = {"W": {"Type": "Wait", "Seconds": 1, "End": True}}
    execution = lab.run({"M": map_state(inner, Items=[1, 2, 3, 4], MaxConcurrency=width)})
    assert (execution.stopped - execution.started).total_seconds() == seconds


def test_a_map_runs_at_most_forty_items_at_once(lab):
    inner = {"W": {"Type": "Wait", "Seconds": 1, "End": True}}
    for width in (0, 100):
        execution = lab.run({"M": map_state(inner, Items="{% [1..81] %}", MaxConcurrency=width)})
        assert (execution.stopped - execution.started).total_seconds() == 3


def test_an_item_selector_sees_the_item_and_the_input_of_the_map(lab):
    inner = {"P": {"Type": "Pass", "End": True}}
    selector = {
        "item": "{% $states.context.Map.Item.Value %}",
        "index": "{% $states.context.Map.Item.Index %}",
        "all": "{% $count($states.input) %}",
    }
    assert lab.run({"M": map_state(inner, ItemSelector=selector)}, ["a", "b"]).output == [
        {"item": "a", "index": 0, "all": 2},
        {"item": "b", "index": 1, "all": 2},
    ]


def test_a_map_in_a_map_has_the_inner_item_in_its_context(lab):
    inner = {
        "P": {"Type": "Pass", "Output": "{% $states.context.Map.Item.Value & $up %}", "End": True}
    }
    outer = {
        "Keep": {
            "Type": "Pass",
            "Assign": {"up": "{% $states.context.Map.Item.Index %}"},
            "Next": "N",
        },
        "N": map_state(inner),
    }
    assert lab.run({"M": map_state(outer)}, [["a", "b"], ["c"]]).output == [["a0", "b0"], ["c1"]]


def test_an_item_that_fails_stops_its_siblings_before_the_map_fails(lab):
    endless = Endless()

    async def work(arguments, task):
        if arguments == "bad":
            await asyncio.sleep(5)
            raise StateError("Custom", "because")
        return await endless(arguments, task)

    lab.integrations[WORK] = work
    catch = [{"ErrorEquals": ["Custom"], "Next": "B"}]
    states = {"M": map_state({"T": task()}, Catch=catch), "B": {"Type": "Succeed"}}
    execution = lab.run(states, ["a", "bad", "b"])
    assert execution.output == {"Error": "Custom", "Cause": "because"}
    assert sorted(endless.log) == ["started a", "started b", "stopped a", "stopped b"]
    kinds = lab.kinds(execution)
    assert kinds[kinds.index("TaskFailed") :] == [
        "TaskFailed",
        "MapIterationFailed",
        "MapIterationAborted",
        "MapIterationAborted",
        "MapStateFailed",
        "MapStateExited",
        "SucceedStateEntered",
        "SucceedStateExited",
        "ExecutionSucceeded",
    ]


def test_a_map_can_be_retried(lab):
    lab.integrations[WORK] = failing("E", then=1)
    retry = [{"ErrorEquals": ["E"]}]
    assert lab.run({"M": map_state({"T": task()}, Items=[0, 0], Retry=retry)}).output == [1, 1]


# Ends of executions


def stop_after(lab, execution, seconds, *reason):
    async def run():
        running = asyncio.create_task(execution.run())
        await asyncio.sleep(seconds)
        execution.stop(*reason)
        await running

    lab.loop.run_until_complete(run())
    return execution


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_an_abort_stops_running_tasks_and_is_the_last_event(lab, depth):
    lab.integrations[WORK] = endless = Endless()
    everything = [{"ErrorEquals": ["States.ALL"]}]
    state = task(Retry=everything)
    for _ in range(depth):
        state = map_state({f"S{_}": state}, Items=[1, 2], Retry=everything)
    execution = stop_after(lab, lab.start({"A": state}), 10, "Stopped", "by hand")
    assert (execution.status, execution.error, execution.cause) == (
        "ABORTED",
        "Stopped",
        "by hand",
    )
    assert len(endless.log) == 2 * 2**depth
    assert execution.history.events[-1]["type"] == "ExecutionAborted"
    details = execution.history.events[-1]["executionAbortedEventDetails"]
    assert details == {"error": "Stopped", "cause": "by hand"}
    assert lab.kinds(execution)[-2] == "TaskStarted"


def test_an_abort_completes_if_a_task_fails_to_stop(lab):
    async def work(arguments, task):
        try:
            await asyncio.Event().wait()
        finally:
            raise StateError("CannotStop")

    lab.integrations[WORK] = work
    everything = {"ErrorEquals": ["States.ALL"]}
    state = task(Retry=[everything], Catch=[everything | {"Next": "A"}])
    states = {"A": map_state({"T": state}, Items=[1, 2], Retry=[everything])}
    states["A"]["ItemProcessor"]["States"]["T"]["Catch"][0]["Next"] = "T"
    assert stop_after(lab, lab.start(states), 1).status == "ABORTED"


def test_an_abort_before_the_first_state_is_an_abort(lab):
    execution = lab.start({"A": {"Type": "Wait", "Seconds": 9, "End": True}})
    execution.stop()
    lab.loop.run_until_complete(execution.run())
    assert (execution.status, execution.error, execution.cause) == ("ABORTED", None, None)


def test_an_abort_after_the_end_changes_nothing(lab):
    execution = lab.run({"A": {"Type": "Succeed"}})
    execution.stop("Too", "late")
    assert (execution.status, execution.error) == ("SUCCEEDED", None)


def test_a_machine_that_never_waits_can_be_aborted(lab):
    states = {
        "A": {"Type": "Pass", "Next": "B"},
        "B": {"Type": "Choice", "Choices": [{"Condition": True, "Next": "A"}]},
    }
    execution = lab.start(states)

    async def run():
        running = asyncio.create_task(execution.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        execution.stop()
        await running

    lab.loop.run_until_complete(run())
    assert execution.status == "ABORTED"


def test_a_machine_that_takes_too_long_is_stopped(lab):
    lab.integrations[WORK] = endless = Endless()
    execution = lab.run({"A": task()}, "x", TimeoutSeconds=7)
    assert (execution.status, execution.error) == ("TIMED_OUT", "States.Timeout")
    assert endless.log == ["started x", "stopped x"]
    assert lab.kinds(execution)[-2:] == ["TaskStarted", "ExecutionTimedOut"]


@pytest.mark.parametrize("field", ["Arguments", "Output", "Assign"])
def test_more_than_256_kib_of_json_is_too_much(lab, field):
    lab.integrations[WORK] = failing()
    big = "{% $pad('', $states.input, 'x') %}"
    states = {"A": task(**{field: {"a": big} if field == "Assign" else big})}
    assert lab.run(states, 256 * 1024 - 2 - 6 * (field == "Assign")).status == "SUCCEEDED"
    assert lab.run(states, 256 * 1024).error == "States.DataLimitExceeded"


def test_a_task_fails_with_a_result_of_more_than_256_kib(lab):
    lab.integrations[WORK] = failing(then="é" * (128 * 1024))
    execution = lab.run({"A": task(Output="small")})
    assert execution.error == "States.DataLimitExceeded"
    assert "TaskFailed" in lab.kinds(execution)


def test_an_execution_ends_with_its_25000th_event(lab):
    states = {
        "A": {"Type": "Pass", "Next": "B"},
        "B": {"Type": "Choice", "Choices": [{"Condition": True, "Next": "A"}]},
    }
    execution = lab.run(states)
    assert (execution.status, execution.error) == ("FAILED", "States.Runtime")
    assert len(execution.history.events) == 25_000
    assert lab.kinds(execution)[-1] == "ExecutionFailed"


def test_a_bug_of_an_integration_ends_the_execution_and_is_raised(lab):
    async def work(arguments, task):
        raise KeyError("a bug")

    lab.integrations[WORK] = work
    execution = lab.start({"A": task(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "A"}])})
    with pytest.raises(KeyError, match="a bug"):
        lab.loop.run_until_complete(execution.run())
    assert (execution.status, execution.error) == ("FAILED", "States.Runtime")
