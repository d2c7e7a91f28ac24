"""The failure of a state, as Step Functions reports it."""

import json

from pydantic import BaseModel

OVER_BUDGET = "OverBudget"
_DECIDED = {"Refused", OVER_BUDGET}


class Failure(BaseModel):
    """The ``$states.errorOutput`` of a Catch; the cause is a text, which may be JSON."""

    Error: str
    Cause: str = ""

    def __str__(self) -> str:
        """Return the failure in words: a Lambda function's own sentence if there is one."""
        message = _message(self.Cause)
        # Our own decisions have whole sentences, which need no name of the error.
        return message if self.Error in _DECIDED else f"{self.Error}: {message}"


def _message(cause: str) -> str:
    """Return a function's error message, a child execution's failure, or else the cause."""
    try:
        content = json.loads(cause)
    except (ValueError, RecursionError):
        return cause
    match content:
        case {"errorMessage": message}:
            return str(message)
        case {"ExecutionArn": _, "Status": status}:
            # DescribeExecution's answer; a stopped child may have neither error nor cause.
            error, child_cause = content.get("Error") or status, content.get("Cause") or ""
            return str(Failure(Error=str(error), Cause=str(child_cause)))
    return cause
