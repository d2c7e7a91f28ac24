"""PublishReport: the report of a run, for people and for programs."""

from lambdas import answers, services
from tidemark.report.run_report.publishing import publish_report
from tidemark.run.events import RunEvent


@answers(RunEvent)
def handler(event: RunEvent) -> object:
    """Write the report as Markdown, page and JSON; return the key of each file."""
    return publish_report(services.bucket(), event.run_id)
