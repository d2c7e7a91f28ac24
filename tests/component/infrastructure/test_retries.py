"""The errors that states retry: one table has them all, with their sources."""

import json
import re
from collections import Counter, defaultdict

from cdk.definitions import definition
from tidemark.model.checkout import ROOT

TABLE = ROOT / "docs" / "retries.md"
# A function of the system under test that dies has failed; Tidemark's own may be tried again.
DEATHS = {"Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout"}


def tabled():
    """Return the retries of the table: by task, the triple of each error."""
    rows = re.findall(
        r"^\| `(\S+)` \| `(\S+)` \| .+ \| (\d+), (\d+) s, ([\d.]+) \| .+ \|$",
        TABLE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == TABLE.read_text(encoding="utf-8").count("\n| `")
    retries = defaultdict(dict)
    for task, error, attempts, interval, factor in rows:
        assert error not in retries[task]
        retries[task][error] = (int(attempts), int(interval), float(factor))
    return retries


def task_states():
    """Yield the name and definition of each state of all state machines that is tried again."""

    def tasks(states):
        for name, state in states.items():
            if state["Type"] == "Task" or "Retry" in state:
                yield name, state
            yield from tasks(state.get("ItemProcessor", {}).get("States", {}))

    for file in sorted((ROOT / "cdk").glob("*.asl.json")):
        yield from tasks(json.loads(definition(file.name.partition(".")[0]))["States"])


def retries_of(state):
    return {
        error: (retry["MaxAttempts"], retry["IntervalSeconds"], float(retry.get("BackoffRate", 2)))
        for retry in state["Retry"]
        for error in retry["ErrorEquals"]
    }


def test_every_state_retries_the_errors_of_the_table_and_no_others():
    retries = tabled()
    used = set()

    for name, state in task_states():
        resource = state.get("Resource", "")
        call = resource.removeprefix("arn:aws:states:::").removeprefix("aws-sdk:")
        expected = retries.get(call, {}) | retries.get(name, {})
        if name == "Invoke":
            expected = {error: expected[error] for error in expected.keys() - DEATHS}
        assert retries_of(state) == expected, name
        used |= {call, name}

    assert retries.keys() <= used


def test_no_error_is_retried_by_two_retriers_of_a_state():
    for name, state in task_states():
        errors = Counter(error for retry in state["Retry"] for error in retry["ErrorEquals"])
        assert max(errors.values()) == 1, name


def test_no_state_repeats_a_measurement():
    hiding = {"States.ALL", "States.TaskFailed", "States.Timeout"}
    assert not [name for name, state in task_states() if hiding & retries_of(state).keys()]
