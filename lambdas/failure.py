"""What Step Functions says of a state that failed."""

from __future__ import annotations

import json

from aws_lambda_powertools.utilities.parser import BaseModel


class Failure(BaseModel):
    """A Catch's ``$states.errorOutput``; the cause is text that may or may not be JSON."""

    Error: str
    Cause: str = ""

    def __str__(self) -> str:
        """Return it in words: a Lambda function's own sentence where there is one."""
        try:
            said = json.loads(self.Cause)["errorMessage"]
        except (ValueError, KeyError, TypeError):
            said = self.Cause
        # What we refuse is refused in a sentence that stands alone.
        return str(said) if self.Error == "Refused" else f"{self.Error}: {said}"
