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
