"""RecordRates: fold the trials of a run into its rows of the tables."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws, tables
from lambdas.events import RunEvent
from lambdas.latest import keep_latest
from lambdas.observability import logger
from lambdas.stored import read_exclusions, read_plan, read_trials
from suites import keys


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the run's rows of its tables, whole: again changes nothing."""
    bucket = aws.bucket()
    plan, trials = read_plan(bucket, event.run_id), read_trials(bucket, event.run_id)
    exclusions = read_exclusions(bucket, event.run_id)
    rates = list(tables.rate_rows(plan, trials, exclusions))
    samples = list(tables.sample_rows(trials, exclusions))
    for table, rows in (("rates", rates), ("task_rates", samples)):
        key = keys.table(table, plan.suite.name, event.run_id)
        bucket.write(key, tables.packed(rows))
    if rates:
        keep_latest(bucket, plan.suite.name, event.run_id, tables.packed(rates))
    return {"rates": len(rates), "samples": len(samples)}
