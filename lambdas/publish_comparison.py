"""PublishComparison: the comparison of two versions, of the same run or of different runs."""

from pydantic import BaseModel, Field

from lambdas import answers, services
from tidemark.model.base import NAME
from tidemark.report.comparison.publishing import publish_comparison


class ComparisonEvent(BaseModel):
    """A suite and two of its versions; each a version, a run, or ``RUN/VERSION``."""

    suite: str = Field(pattern=f"^{NAME}$")
    base: str
    new: str


@answers(ComparisonEvent)
def handler(event: ComparisonEvent) -> object:
    """Write the comparison as Markdown, page and document; return the key of each."""
    return publish_comparison(services.bucket(), event.suite, event.base, event.new)
