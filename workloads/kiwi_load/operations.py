"""The operations of one user over data of its own: of ten, five read and five write."""

from __future__ import annotations

from random import Random

import sequence
from json_rpc import Session

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
        self._plan = sequence.new_plan(session, name)
        cases = sequence.new_cases(session, self._plan, _CASES)
        self._finished = sequence.finished_status(session)
        self._build = sequence.new_build(session, self._plan)
        self._run = sequence.new_run(session, self._plan, self._build, 0)
        self._executions = [sequence.new_execution(session, self._run, case) for case in cases]

    def do(self, operation: str, random: Random) -> None:
        """Make a request of an operation."""
        execution = random.choice(self._executions)
        if operation == "TestRun.create":
            sequence.new_run(self._session, self._plan, self._build, 1)
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
