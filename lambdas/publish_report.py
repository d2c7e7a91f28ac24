"""PublishReport: the report of a run, for people and for programs."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.report.run_report.publishing import publish_report
from tidemark.run.events import RunEvent


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the report as Markdown, page and JSON; return the key of each file."""
    return publish_report(services.bucket(), event.run_id)
