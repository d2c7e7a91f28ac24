"""PublishComparison: the comparison of two versions, of the same run or of different runs."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field

from lambdas import logger, services
from tidemark.model.base import NAME
from tidemark.report.comparison.publishing import publish_comparison


class ComparisonEvent(BaseModel):
    """A suite and two of its versions; each a version, a run, or ``RUN/VERSION``."""

    suite: str = Field(pattern=f"^{NAME}$")
    base: str
    new: str


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ComparisonEvent)
def handler(event: ComparisonEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the comparison as Markdown, page and document; return the key of each."""
    return publish_comparison(services.bucket(), event.suite, event.base, event.new)
