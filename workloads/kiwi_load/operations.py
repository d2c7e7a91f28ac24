"""The calls of testers: a sequence that reports r test runs of r test cases, and single operations.

Kiwi TCMS's documentation describes the sequence in its chapter "Hardware and performance":
10 + 3r + 2r² calls make a product with a plan of r cases, and r runs with a result of each case.
One user does operations over data of its own: of ten, five read and five write.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from harness.task import CheckFailedError
from json_rpc import USER, Session


class Plan(NamedTuple):
    """The ids of a new test plan and of what its test cases and runs belong to."""

    user: int
    product: int
    version: int
    plan: int


def calls(r: int) -> int:
    """Return the number of calls of a sequence."""
    return 10 + 3 * r + 2 * r**2


def results(r: int) -> int:
    """Return the number of test results of a sequence."""
    return r**2


def report(session: Session, r: int, name: str) -> None:
    """Make all calls of a sequence; ``name`` is the new product's."""
    plan = new_plan(session, name)
    cases = new_cases(session, plan, r)
    passed = finished_status(session)
    build = new_build(session, plan)
    # All runs exist before the first result, as different testers would start them.
    runs = [new_run(session, plan, build, number) for number in range(r)]
    for run in runs:
        for case in cases:
            execution = new_execution(session, run, case)
            session.call("TestExecution.update", execution, {"status": passed})


def new_plan(session: Session, name: str) -> Plan:
    """Return a new plan for a new product; both have the name."""
    user = _first(session, "User.filter", {"username": USER})
    classification = _first(session, "Classification.filter", {})
    product = session.call("Product.create", {"name": name, "classification": classification})["id"]
    version = session.call("Version.create", {"value": name, "product": product})["id"]
    # The first type of a plan is one that every new database has.
    values = {"name": name, "product": product, "product_version": version, "type": 1}
    return Plan(user, product, version, session.call("TestPlan.create", values)["id"])


def new_cases(session: Session, plan: Plan, r: int) -> list[int]:
    """Return the ids of the new test cases of a plan."""
    values = {
        "product": plan.product,
        "priority": _first(session, "Priority.filter", {}),
        "category": _first(session, "Category.filter", {"product": plan.product}),
        "case_status": _first(session, "TestCaseStatus.filter", {"is_confirmed": True}),
    }
    cases = []
    for number in range(r):
        case = session.call("TestCase.create", {**values, "summary": f"Case {number}"})["id"]
        session.call("TestPlan.add_case", plan.plan, case)
        cases.append(case)
    return cases


def new_build(session: Session, plan: Plan) -> int:
    """Return the id of a new build of the product of a plan."""
    build: int = session.call("Build.create", {"name": "1", "version": plan.version})["id"]
    return build


def new_run(session: Session, plan: Plan, build: int, number: int) -> int:
    """Return the id of a new test run without cases."""
    values = {"summary": f"Run {number}", "manager": plan.user, "plan": plan.plan, "build": build}
    run: int = session.call("TestRun.create", values)["id"]
    return run


def new_execution(session: Session, run: int, case: int) -> int:
    """Return the id of the result, still open, of a case that is added to a run."""
    added = session.call("TestRun.add_case", run, case)
    # Since version 11.0 the answer is a list.
    execution: int = (added[0] if isinstance(added, list) else added)["id"]
    return execution


def finished_status(session: Session) -> int:
    """Return the id of the first status of a result that is not open."""
    return _first(session, "TestExecutionStatus.filter", {"weight__gt": 0})


def _first(session: Session, operation: str, query: dict[str, Any]) -> int:
    """Return the least id of what a filter finds."""
    return min(int(found["id"]) for found in session.call(operation, query))


WEIGHTS = {
    "TestExecution.update": 4,
    "TestExecution.filter": 2,
    "TestRun.filter": 2,
    "TestCase.filter": 1,
    "TestRun.create": 1,
}
_CASES = 5


class Work:
    """A plan of five test cases, and one run of them, which the user makes first."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._plan = new_plan(session, name)
        cases = new_cases(session, self._plan, _CASES)
        self._finished = finished_status(session)
        self._build = new_build(session, self._plan)
        self._run = new_run(session, self._plan, self._build, 0)
        self._executions = [new_execution(session, self._run, case) for case in cases]

    def do(self, operation: str, random: Random) -> None:
        """Make a request of an operation."""
        execution = random.choice(self._executions)
        if operation == "TestRun.create":
            new_run(self._session, self._plan, self._build, 1)
            return
        arguments = {
            "TestExecution.update": (execution, {"status": self._finished}),
            "TestExecution.filter": ({"run": self._run},),
            "TestRun.filter": ({"plan": self._plan.plan},),
            "TestCase.filter": ({"plan": self._plan.plan},),
        }
        self._session.call(operation, *arguments[operation])


def drawn(random: Random) -> str:
    """Return the next operation of a user."""
    (operation,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
    return operation


def numbers_of(variables: Mapping[str, str]) -> range:
    """Return the numbers of a task's users, which no other task of the load has.

    Raises
    ------
    CheckFailedError
        If there are fewer users than tasks.
    """
    users, tasks = int(variables["TIDEMARK_USERS"]), int(variables["TIDEMARK_TASKS"])
    if users < tasks:
        raise CheckFailedError(f"{users} users are fewer than the {tasks} tasks that share them.")
    return range(int(variables["TIDEMARK_TASK"]), users, tasks)
