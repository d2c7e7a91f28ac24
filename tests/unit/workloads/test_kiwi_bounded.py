"""The users and intervals of Kiwi TCMS's bounded test, without Locust and without a server."""

import random
from collections import Counter

import pytest
from harness.task import CheckFailedError


class Session:
    """A session that gives everything the next id, and remembers every call."""

    def __init__(self):
        self.calls = []

    def call(self, operation, *arguments):
        self.calls.append((operation, arguments))
        found = {"id": len(self.calls)}
        return [found] if operation.endswith(".filter") else found


def test_the_requests_of_an_interval_are_logged_by_operation_and_then_begin_anew(kiwi_load, capsys):
    intervals = kiwi_load("intervals").Intervals()
    times = ((5.25, None), (410.0, None), (14.25, OSError("closed")), (1_239.0, None))
    for time, fault in times:
        intervals.add("TestRun.create", time, fault, request_type="JSON-RPC")
    intervals.log(7)
    intervals.log(6)

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "Users 7",
        "Histogram TestRun.create count 4 average 417.125000 ms buckets 5.2:1 410:1 14:1 1230:1",
        "Failures TestRun.create 1 of 4 requests",
        "Users 6",
    ]
    assert intervals.requests == 4


def test_the_statements_of_answered_requests_are_logged_as_means(kiwi_load, capsys):
    intervals, answered = kiwi_load("intervals").Intervals(), kiwi_load("json_rpc").Answered
    for milliseconds, count in ((2.5, 10), (3.5, 13)):
        statements = kiwi_load("json_rpc").Statements(milliseconds, count)
        intervals.add("A.b", 5.0, None, [answered("A.b", 0.005, 7, statements)])
    intervals.add("A.b", 5.0, OSError(), [])
    intervals.log(1)
    intervals.log(1)

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    logged = [line for line in lines if line.startswith("Database")]
    assert logged == ["Database A.b requests 2 time 3.000000 ms statements 11.500000"]


def test_no_user_is_connected_while_no_request_is_answered(kiwi_load):
    intervals = kiwi_load("intervals").Intervals()
    assert intervals.connected(7) == 7

    for fault in (None, OSError()):
        intervals.add("TestRun.filter", 1.0, fault)
    assert intervals.connected(7) == 7

    intervals.log(7)
    intervals.add("TestRun.filter", 1.0, OSError())
    assert intervals.connected(7) == 0


def test_every_operation_is_one_request_on_data_of_the_user(kiwi_load):
    operations, session = kiwi_load("operations"), Session()
    work = operations.Work(session, "User 3")
    made = len(session.calls)

    for operation in operations.WEIGHTS:
        work.do(operation, random.Random(0))

    assert [operation for operation, _ in session.calls[made:]] == list(operations.WEIGHTS)
    assert ("Product.create", "User 3") in {
        (operation, arguments[0].get("name"))
        for operation, arguments in session.calls
        if operation == "Product.create"
    }


def test_operations_are_drawn_by_their_weights_and_the_same_for_the_same_seed(kiwi_load):
    drawn, weights = kiwi_load("operations").drawn, kiwi_load("operations").WEIGHTS
    first, again = ([drawn(source) for _ in range(10_000)] for source in map(random.Random, (1, 1)))

    assert first == again
    assert Counter(first).keys() == weights.keys()
    for operation, weight in weights.items():
        assert Counter(first)[operation] == pytest.approx(1000 * weight, rel=0.1)


def test_the_lateness_of_requests_is_the_mean_since_the_one_before(kiwi_load, monkeypatch):
    limits = kiwi_load("limits")
    monkeypatch.setattr(limits, "monotonic", lambda: 100.0)
    late = limits.Lateness()
    for ready in (100.0, 99.99, 99.95):
        late.add(ready)

    assert late.mean() == pytest.approx(20.0)
    assert late.mean() == 0.0


def test_a_load_that_sends_late_is_the_limit_itself(kiwi_load):
    check = kiwi_load("limits").check_lateness
    check(20.0)

    with pytest.raises(
        CheckFailedError,
        match=r"^The load was the limit, not the server: it sent requests 20\.1 ms late; up to 20",
    ):
        check(20.1)


def test_a_load_that_uses_a_whole_core_is_the_limit_itself(kiwi_load):
    check = kiwi_load("limits").check_cores
    check(0.8)

    sentence = "it used 0.81 cores; up to 0.8 were accepted."
    with pytest.raises(CheckFailedError, match=f"not the server: {sentence}$"):
        check(0.81)


@pytest.mark.parametrize(("users", "tasks"), [(1, 1), (10, 1), (10, 3), (3, 3)])
def test_the_tasks_of_a_load_share_its_users(kiwi_load, users, tasks):
    numbers_of = kiwi_load("operations").numbers_of
    given = {"TIDEMARK_USERS": str(users), "TIDEMARK_TASKS": str(tasks)}
    shares = [numbers_of({**given, "TIDEMARK_TASK": str(task)}) for task in range(tasks)]

    assert sorted(number for share in shares for number in share) == list(range(users))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_load_with_fewer_users_than_tasks_is_refused(kiwi_load):
    variables = {"TIDEMARK_USERS": "2", "TIDEMARK_TASKS": "3", "TIDEMARK_TASK": "0"}

    with pytest.raises(
        CheckFailedError, match=r"^2 users are fewer than the 3 tasks that share them\.$"
    ):
        kiwi_load("operations").numbers_of(variables)
