"""The errors that a state reports, and which of them a Retry or a Catch matches."""

from __future__ import annotations

from collections.abc import Collection

ALL = "States.ALL"
DATA_LIMIT_EXCEEDED = "States.DataLimitExceeded"
NO_CHOICE_MATCHED = "States.NoChoiceMatched"
QUERY_EVALUATION_ERROR = "States.QueryEvaluationError"
RUNTIME = "States.Runtime"
TASK_FAILED = "States.TaskFailed"
TIMEOUT = "States.Timeout"


class StateError(Exception):
    """A state failed: ``error`` is the name that Retry and Catch match, ``cause`` says why."""

    def __init__(self, error: str, cause: str | None = None) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


def matches(error_equals: Collection[str], error: str) -> bool:
    """
    Tell whether a retrier or catcher for ``error_equals`` handles ``error``.

    Source: AWS documentation, "Handling errors in Step Functions workflows": States.Runtime is
    never handled, States.ALL leaves out States.DataLimitExceeded, and States.TaskFailed stands
    for every error but States.Timeout.
    """
    if error == RUNTIME:
        return False
    if error in error_equals:
        return True
    if error == DATA_LIMIT_EXCEEDED:
        return False
    return ALL in error_equals or (TASK_FAILED in error_equals and error != TIMEOUT)
