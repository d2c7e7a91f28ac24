"""What Step Functions says of a state that failed."""

from __future__ import annotations

import json

from aws_lambda_powertools.utilities.parser import BaseModel


def shortened(text: str, most_bytes: int) -> str:
    """Return a text on one line and within ``most_bytes`` of UTF-8, cut at its end if need be."""
    line = " ".join(text.split())
    if len(line.encode()) <= most_bytes:
        return line
    # 3 bytes for the mark; a character that is cut through is left out.
    return line.encode()[: most_bytes - 3].decode(errors="ignore") + "…"


OVER_BUDGET = "OverBudget"
_DECIDED = {"Refused", OVER_BUDGET}


class Failure(BaseModel):
    """A Catch's ``$states.errorOutput``; the cause is text that may or may not be JSON."""

    Error: str
    Cause: str = ""

    def __str__(self) -> str:
        """Return it in words: a Lambda function's own sentence where there is one."""
        said = _in_words(self.Cause)
        # What we decide is told in a sentence that stands alone.
        return said if self.Error in _DECIDED else f"{self.Error}: {said}"


def _in_words(cause: str) -> str:
    """Return what a Lambda function said, or why a child execution ended, or else the cause."""
    try:
        told = json.loads(cause)
    except (ValueError, RecursionError):
        return cause
    match told:
        case {"errorMessage": said}:
            return str(said)
        case {"ExecutionArn": _, "Status": status}:
            # DescribeExecution's answer; a child that was stopped may have neither of both.
            error, child_cause = told.get("Error") or status, told.get("Cause") or ""
            return str(Failure(Error=str(error), Cause=str(child_cause)))
    return cause
