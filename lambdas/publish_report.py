"""PublishReport: the report of a run, for people and for programs."""

import json
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws, keys, tables
from lambdas.observability import logger
from lambdas.report import markdown
from lambdas.run_event import RunEvent
from lambdas.stored import read_plan, read_trials
from lambdas.summary import summarise


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write ``report.md`` and ``summary.json``; return their keys."""
    bucket = aws.bucket()
    plan, trials = read_plan(bucket, event.run_id), read_trials(bucket, event.run_id)
    rates = summarise(plan, tables.rate_rows(plan, trials))
    report = keys.report(plan.suite.name, event.run_id, "report.md")
    summary = keys.report(plan.suite.name, event.run_id, "summary.json")
    bucket.write(report, markdown(plan, rates, trials).encode())
    bucket.write(summary, json.dumps([rate.model_dump() for rate in rates]).encode())
    return {"report": report, "summary": summary}
