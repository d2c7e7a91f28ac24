"""The failure of a state, as Step Functions reports it."""

import json
import re

from pydantic import BaseModel

CUT_SHORT = "CutShort"
_DECIDED = {"Refused", CUT_SHORT}
_MESSAGE = re.compile(r'errorMessage\\*": *\\*"([^"\\]+)\\*"')


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
        # The state machine cuts the cause of a lost round, perhaps behind a function's own message.
        found = _MESSAGE.search(cause)
        return found[1] if found else cause
    match content:
        case {"errorMessage": message}:
            return str(message)
        case {"ExecutionArn": _, "Status": status}:
            # DescribeExecution's answer; a stopped child may have neither error nor cause.
            error, child_cause = content.get("Error") or status, content.get("Cause") or ""
            return str(Failure(Error=str(error), Cause=str(child_cause)))
    return cause
