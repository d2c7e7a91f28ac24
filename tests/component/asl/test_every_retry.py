"""Every error that a state retries, raised by the call of that state."""

from itertools import pairwise

import pytest

from onebox.asl.errors import StateError
from tests.component.infrastructure.test_retries import retries_of, task_states


@pytest.fixture
def fail(lab):
    """Return a way to run a Task state whose first calls fail; it returns their moments [s]."""

    def fail(state, error, times):
        moments = []

        async def call(_arguments, _submission):
            moments.append(lab.loop.time())
            if len(moments) <= times:
                raise StateError(error, "because")
            return {}

        # The rest of the machine gives the arguments and the next state, and decides no retry.
        # The states within a Map fail as a call does.
        call_of = {"Resource": "any", **state}
        lab.integrations[call_of["Resource"]] = call
        alone = {"Type": "Task"} | {key: call_of[key] for key in ("Resource", "Retry")}
        return lab.run({"Call": {**alone, "End": True}}), moments

    return fail


@pytest.mark.parametrize(("name", "state"), [*task_states()])
def test_a_state_survives_each_error_as_often_as_the_table_of_retries_says(fail, name, state):
    for error, (most, interval, factor) in retries_of(state).items():
        execution, moments = fail(state, error, most)
        assert execution.status == "SUCCEEDED", (name, error)
        waits = [later - before for before, later in pairwise(moments)]
        longest = [interval * factor**n for n in range(most)]
        # The lab's jitter is half of the longest wait.
        jittered = [wait / 2 for wait in longest]
        assert waits in (pytest.approx(jittered), pytest.approx(longest)), (name, error)

        execution, moments = fail(state, error, most + 1)
        assert (execution.error, len(moments)) == (error, most + 1), name
