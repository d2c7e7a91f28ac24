"""One task of a step of Sleeper's tests: ``python sleeper_workload.py STEP``."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from configured import config_bucket
from harness import log
from harness.checks import CheckFailedError
from harness.configuration import Configuration, ConfigurationError
from harness.machine import log_environment
from relay import Relay
from upstream import (
    COMPACT,
    CREATE_JOBS,
    DISPATCH_JOBS,
    INGEST,
    TABLE,
    Sleeper,
    instance_id,
    run,
)

# Sleeper's writers keep files in this folder, whatever java.io.tmpdir says.
_SCRATCH = Path("/tmp/scratch")  # noqa: S108
_WROTE = re.compile(r"MetricsLogger INFO +- Wrote (\d+) (?:records|rows) to S3 in ")
_COMPACTED = re.compile(
    r"MetricsLogger INFO +- Compaction job \S+: compaction (?:read|wrote) "
    r"(\d+) (?:records|rows) at "
)


def ingest(relay: Relay, configuration: Configuration) -> None:
    """Write random records into the instance's table."""
    _check_scratch()
    records = configuration.records
    output = run(relay, INGEST, instance_id(), TABLE, str(records))
    _check("writer", _WROTE.findall(output), [records])


def create_jobs(relay: Relay, _: Configuration) -> None:
    """Create the compaction job of all files, and put it into the queue of jobs."""
    run(relay, CREATE_JOBS, "all", instance_id(), TABLE)
    run(relay, DISPATCH_JOBS, instance_id())
    sqs = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=f"{os.environ['TIDEMARK_OWN']}-CompactionJobQ")["QueueUrl"]
    names = ["ApproximateNumberOfMessages"]
    queued = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"][names[0]]
    if queued != "1":
        raise CheckFailedError(f"The queue has {queued} compaction jobs; expected 1.")


def compact(relay: Relay, configuration: Configuration) -> None:
    """Run the job. A compaction task of Sleeper whose job fails ends with exit code 0, too."""
    output = run(relay, COMPACT, config_bucket())
    records = configuration.records * int(os.environ["TIDEMARK_TASKS"])
    _check("compaction job", _COMPACTED.findall(output), [records, records])


STEPS: Mapping[str, Callable[[Relay, Configuration], None]] = {
    "ingest": ingest, "load": ingest, "jobs": create_jobs, "compact": compact,
}  # fmt: skip


def main(step: str) -> int:
    """Do a step; return the exit code."""
    try:
        configuration = Configuration.from_environment(os.environ)
        with tempfile.TemporaryDirectory() as scratch:
            log_environment(Sleeper(), configuration, Path(scratch))
        with Relay() as relay:
            STEPS[step](relay, configuration)
    except ConfigurationError as refusal:
        log.error("Configuration", str(refusal))
        return 2
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (BotoCoreError, ClientError) as failure:
        log.error("Storage", f"The cloud refused: {failure}")
        return 1
    return 0


def _check(kind: str, logged: list[str], expected: list[int]) -> None:
    """Refuse the rates of a program that has not handled every record."""
    if [int(rows) for rows in logged] != expected:
        found = ", ".join(logged) or "none"
        raise CheckFailedError(f"Records of the {kind}: {found}; expected {expected[0]}.")


def _check_scratch() -> None:
    """Refuse a folder of Sleeper's writers that this task cannot use.

    One machine keeps tasks from making entries in the folders above the state folder.
    """
    try:
        _SCRATCH.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=_SCRATCH):
            pass
    except OSError as error:
        raise CheckFailedError(
            f"Sleeper's writers keep files in {_SCRATCH}, which this task cannot use: "
            f"{error.strerror}; on one machine the state folder may not lie in {_SCRATCH.parent}."
        ) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
