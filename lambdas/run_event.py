"""The event of every state that is about one run."""

from aws_lambda_powertools.utilities.parser import BaseModel


class RunEvent(BaseModel):
    """A run by its name."""

    run_id: str
