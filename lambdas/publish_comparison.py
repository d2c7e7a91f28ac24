"""PublishComparison: the comparison of two versions, whichever runs measured them."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field

from lambdas import aws
from lambdas.comparing import compare
from lambdas.observability import logger
from suites.model import NAME


class ComparisonEvent(BaseModel):
    """A suite and two of its versions; each a version, a run, or ``RUN/VERSION``."""

    suite: str = Field(pattern=f"^{NAME}$")
    base: str
    new: str


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ComparisonEvent)
def handler(event: ComparisonEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the comparison as Markdown and as a page; return the key of each."""
    return compare(aws.bucket(), event.suite, event.base, event.new)
