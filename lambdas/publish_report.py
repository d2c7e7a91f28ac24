"""PublishReport: the report of a run, for people and for programs."""

import json
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws, tables
from lambdas.aws import Bucket
from lambdas.events import RunEvent
from lambdas.observability import logger
from lambdas.report.contents import report
from lambdas.report.markdown import markdown
from lambdas.report.measured import MeasuredRun
from lambdas.report.page import packed_vega, page
from lambdas.stored import StoredRun, fold
from lambdas.summary import summarise
from suites import keys


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write ``report.md``, ``report.html`` and ``summary.json``; return the key of each."""
    bucket = aws.bucket()
    return fold(bucket, event.run_id, lambda run: _write(bucket, run))


def _write(bucket: Bucket, run: StoredRun) -> dict[str, str]:
    suite = run.plan.suite.name
    rates = summarise(run.plan, tables.rate_rows(run.plan, run.trials, run.exclusions))
    said = report(MeasuredRun(run.plan, run.trials, rates, run.exclusions))
    files = {
        "report.md": markdown(said),
        "report.html": page(said, packed_vega()),
        "summary.json": json.dumps([rate.model_dump() for rate in rates]),
    }
    written = {file: keys.report(suite, run.plan.run_id, file) for file in files}
    for file, text in files.items():
        bucket.write(written[file], text.encode())
    return written
