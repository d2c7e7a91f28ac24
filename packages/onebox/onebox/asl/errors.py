"""The errors of a state, and the rule by which a Retry or a Catch matches them."""

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
    """The failure of a state: the ``error`` that Retry and Catch match, and its ``cause``."""

    def __init__(self, error: str, cause: str | None = None) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


def matches(error_equals: Collection[str], error: str) -> bool:
    """
    Tell whether a retrier or catcher for ``error_equals`` handles ``error``.

    Source: AWS documentation, "Handling errors in Step Functions workflows". No rule handles
    States.Runtime, States.ALL does not match States.DataLimitExceeded, and States.TaskFailed
    matches every error except States.Timeout.
    """
    if error == RUNTIME:
        return False
    if error in error_equals:
        return True
    if error == DATA_LIMIT_EXCEEDED:
        return False
    return ALL in error_equals or (TASK_FAILED in error_equals and error != TIMEOUT)
