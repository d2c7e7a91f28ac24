"""RecordRates: fold the trials of a run into its rows of the tables."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws, tables
from lambdas.aws import Bucket
from lambdas.events import RunEvent
from lambdas.observability import logger
from lambdas.stored import StoredRun, fold
from suites import keys


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the run's rows of ``rates`` and ``task_rates``, whole: again changes nothing."""
    bucket = aws.bucket()
    return fold(bucket, event.run_id, lambda run: _write(bucket, run))


def _write(bucket: Bucket, run: StoredRun) -> dict[str, int]:
    rates = list(tables.rate_rows(run.plan, run.trials, run.exclusions))
    samples = list(tables.sample_rows(run.trials, run.exclusions))
    for table, rows in (("rates", rates), ("task_rates", samples)):
        key = keys.table(table, run.plan.suite.name, run.plan.run_id)
        bucket.write(key, tables.packed(rows))
    return {"rates": len(rates), "samples": len(samples)}
