"""Names, properties and log lines of the generations of Sleeper.

Sources: github.com/gchq/sleeper at v0.11.0, v0.16.0, v0.18.0 and v0.36.1: the stacks in java/cdk
(java/deployment/cdk at v0.36.1), the instance properties, MetricsLogger with its log4j.properties,
IngestCoordinator, IngestJobQueueConsumer, CompactSortedFiles and CompactionTask.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_LOGGER = "[main] core.metrics.MetricsLogger INFO  -"


class TaskKind(NamedTuple):
    """The tasks of one kind; ``{}`` in a text stands for the id of an instance."""

    cluster: str
    family: str
    container: str
    log_group: str
    stream_prefix: str = ""
    """The beginning of the names of log streams, by default the name of the log group."""


class Generation(NamedTuple):
    """The names of an instance of one version, by property; ``{}`` stands for the id."""

    version: str
    config: tuple[str, str]
    """The bucket and key of the properties; ``{account}`` stands for the account's number."""
    texts: Mapping[str, str]
    clusters: Mapping[str, str]
    queues: Mapping[str, str]
    """The queues of ingest jobs and compaction jobs, that of dead compaction jobs, and others."""
    functions: Mapping[str, str]
    """The functions that start ingest tasks, create compaction jobs and start compaction tasks. The
    name of a function stands for its property, too, where there is none."""
    rules: Mapping[str, str]
    writer: TaskKind
    ingester: TaskKind
    compactor: TaskKind
    families: Mapping[str, str]
    written: Callable[[int, float], str]
    rows: str
    caller: str
    """The logger of the beginning of a compaction job."""


def properties(generation: Generation) -> dict[str, str]:
    """Return the properties of an instance; queues have their names in place of URLs."""
    parts = [
        generation.texts, generation.clusters, generation.queues, generation.functions,
        generation.rules, generation.families,
    ]  # fmt: skip
    stated = {name: value for part in parts for name, value in part.items()}
    return {"sleeper.version": generation.version, **stated}


def _wrote_in_figures(rows: int, seconds: float) -> str:
    rate = f"{rows / seconds:.1f}"
    line = f"Wrote {rows} records to S3 in {seconds:.1f} seconds at {rate} per second"
    return f"[10:14:07,512] {_LOGGER} {line}"


def _wrote_in_words(rows: int, seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    words = (f"{minutes:.0f} minutes " if minutes else "") + f"{rest:g} seconds"
    # From 0.21 on the rate is that of whole seconds, rounded down.
    rate = f"{rows / int(seconds):.1f}".removesuffix(".0")
    return f"{_LOGGER} Wrote {rows} rows to S3 in {words} at {rate} per second"


def writer_lines(generation: Generation, rows: int, seconds: float) -> Iterator[str]:
    """Yield what a writer or an ingest job logs; one line has its rate."""
    flushing = "Flushing files to S3 containing 9 rows"
    yield f"[main] runner.dataframe.FileWritingIterator INFO  - {flushing}"
    yield f"{_LOGGER} Saved to S3 in 0.412 seconds"
    yield generation.written(rows, seconds)
    yield "[main] systemtest.ingest.IngestRandomData INFO  - Finished"


def ingest_job_line() -> str:
    """Return what an ingest task logs when it begins a ``{job}``."""
    begun = "Created background thread to keep SQS messages alive (period is 300 seconds)"
    return f"[main] ingest.job.IngestJobQueueConsumer INFO  - Ingest job {{job}}: {begun}"


def compaction_lines(generation: Generation) -> Iterator[str]:
    """Yield what a job logs, with its ``{job}``, ``{rows}``, ``{rate}`` and ``{time}`` in braces.

    One line says that it begins, and one has its rate of reading.
    """
    of_job = "INFO  - Compaction job {job}: compaction"
    yield f"[main] {generation.caller} {of_job} called at 2023-04-28T10:02:11.120Z"
    metrics = f"[main] core.metrics.MetricsLogger {of_job}"
    yield f"{metrics} run time = {{time}}"
    for verb in ("read", "wrote"):
        yield f"{metrics} {verb} {{rows}} {generation.rows} at {{rate:.1f}} per second"


_RULES = {
    "sleeper.ingest.rule": "{}-IngestTasksCreationRule",
    "sleeper.partition.splitting.rule": "{}-FindPartitionsToSplitPeriodicTrigger",
    "sleeper.compaction.job.creation.rule": "{}-CompactionJobCreationRule",
    "sleeper.compaction.task.creation.rule": "{}-CompactionTasksCreationRule",
}
_OLDER_RULES = _RULES | {
    "sleeper.compaction.splitting.task.creation.rule": "{}-SplittingCompactionTasksCreationRule"
}
_FUNCTIONS = ("ingest-tasks-creator", "job-creator", "compaction-tasks-creator")
OLDER = Generation(
    version="0.16.0",
    config=("sleeper-{}-config", "config"),
    texts={
        "sleeper.config.bucket": "sleeper-{}-config",
        "sleeper.subnet": "subnet-0a1b2c3d",
        "sleeper.systemtest.writers": "11",
    },
    clusters={
        "sleeper.systemtest.cluster": "sleeper-{}-system-test-cluster",
        "sleeper.ingest.cluster": "sleeper-{}-ingest-cluster",
        "sleeper.compaction.cluster": "sleeper-{}-merge-compaction-cluster",
        "sleeper.compaction.splitting.cluster": "sleeper-{}-splitting-merge-compaction-cluster",
    },
    queues={
        "sleeper.ingest.job.queue.url": "{}-IngestJobQ",
        "sleeper.compaction.job.queue.url": "{}-CompactionJobQ",
        "sleeper.compaction.job.dlq.url": "{}-CompactionJobDLQ",
    },
    functions={
        "sleeper.ingest.lambda.function": "sleeper-{}-ingest-tasks-creator",
        "sleeper.compaction.job.creation.lambda.function": "sleeper-{}-job-creator",
        "sleeper.compaction.task.creation.lambda.function": "sleeper-{}-compaction-tasks-creator",
    },
    rules=_OLDER_RULES,
    writer=TaskKind(
        "sleeper-{}-system-test-cluster",
        "{}SystemTestTaskFamily",
        "SystemTestContainer",
        "{}-SystemTestTasks",
    ),
    ingester=TaskKind(
        "sleeper-{}-ingest-cluster",
        "{}IngestTaskFamily",
        "IngestContainer",
        "{}-IngestTasks",
    ),
    compactor=TaskKind(
        "sleeper-{}-merge-compaction-cluster",
        "{}MergeCompactionFargateTaskFamily",
        "MergeContainer",
        "{}-MergeFargateCompactionTasks",
    ),
    families={
        "sleeper.systemtest.task-definition": "{}SystemTestTaskFamily",
        "sleeper.ingest.task.definition.family": "{}IngestTaskFamily",
        "sleeper.compaction.fargate.task.definition": "{}MergeCompactionFargateTaskFamily",
    },
    written=_wrote_in_figures,
    rows="records",
    caller="compaction.jobexecution.CompactSortedFiles",
)
NEWER = Generation(
    version="0.36.1",
    config=("sleeper-{}-config-{account}", "instance.properties"),
    texts={
        "sleeper.config.bucket": "sleeper-{}-config-{account}",
        "sleeper.subnets": "subnet-0a1b2c3d,subnet-4e5f6a7b",
        "sleeper.ecs.security.group.id": "sg-0a1b2c3d",
        "sleeper.systemtest.bucket": "sleeper-{}-system-test",
        "sleeper.ingest.by.queue.role.arn": "arn:aws:iam::{account}:role/sleeper-{}-ingest",
    },
    clusters={
        "sleeper.systemtest.cluster": "sleeper-{}-system-test-cluster",
        "sleeper.ingest.cluster": "sleeper-{}-ingest-cluster",
        "sleeper.compaction.cluster": "sleeper-{}-compaction-cluster",
    },
    queues={
        "sleeper.ingest.job.queue.url": "sleeper-{}-IngestJobQ",
        "sleeper.compaction.job.queue.url": "sleeper-{}-CompactionJobQ",
        "sleeper.compaction.job.dlq.url": "sleeper-{}-CompactionJobDLQ",
        "sleeper.compaction.job.creation.queue.url": "sleeper-{}-CompactionJobCreationQ.fifo",
        "sleeper.compaction.pending.queue.url": "sleeper-{}-PendingCompactionJobBatchQ",
    },
    functions={
        "sleeper.ingest.lambda.function": "sleeper-{}-ingest-create-tasks",
        "sleeper.compaction.job.creation.trigger.lambda.function": (
            "sleeper-{}-compaction-job-creation-trigger"
        ),
        "sleeper.compaction.task.creation.lambda.function": "sleeper-{}-compaction-tasks-creator",
    },
    rules=_RULES,
    writer=TaskKind(
        "sleeper-{}-system-test-cluster",
        "{}SystemTestTaskFamily",
        "SystemTestContainer",
        "sleeper-{}-SystemTestTasks",
    ),
    ingester=TaskKind(
        "sleeper-{}-ingest-cluster",
        "sleeper-{}-IngestTask",
        "IngestContainer",
        "sleeper-{}-IngestTasks",
    ),
    compactor=TaskKind(
        "sleeper-{}-compaction-cluster",
        "sleeper-{}-CompactionTaskOnFargate",
        "CompactionContainer",
        "sleeper-{}-FargateCompactionTasks",
    ),
    families={
        "sleeper.systemtest.task.definition": "{}SystemTestTaskFamily",
        "sleeper.ingest.task.definition.family": "sleeper-{}-IngestTask",
        "sleeper.compaction.fargate.task.definition": "sleeper-{}-CompactionTaskOnFargate",
    },
    written=_wrote_in_words,
    rows="rows",
    caller="core.task.CompactionTask",
)
OLDEST = OLDER._replace(
    version="0.11.0",
    functions={name: name for name in (f"sleeper-{{}}-{each}" for each in _FUNCTIONS)},
    writer=OLDER.writer._replace(
        log_group="{}-SystemTestNestedStackSystemTestNestedStackResource1A2B3C4D-1A2B3C4D5E6F-"
        "SystemTestTaskDefinitionSystemTestContainerLogGroup1A2B3C4D-5E6F7A8B9C0D",
        stream_prefix="{}-SystemTestTasks",
    ),
    compactor=OLDER.compactor._replace(
        family="{}MergeCompactionTaskFamily",
        log_group="{}-CompactionNestedStackCompactionNestedStackResource1A2B3C4D-1A2B3C4D5E6F-"
        "MergeCompactionTaskDefinitionMergeContainerLogGroup1A2B3C4D-5E6F7A8B9C0D",
        stream_prefix="{}-MergeTasks",
    ),
    families={
        "sleeper.systemtest.task-definition": "{}SystemTestTaskFamily",
        "sleeper.ingest.task.definition.family": "{}IngestTaskFamily",
        "sleeper.compaction.task.definition": "{}MergeCompactionTaskFamily",
    },
)
_SUBNETS = {"sleeper.subnets": "subnet-0a1b2c3d,subnet-4e5f6a7b"}
_TEXTS = {name: text for name, text in OLDER.texts.items() if name != "sleeper.subnet"}
LAST_OLDER = OLDER._replace(version="0.18.0", texts=_TEXTS | _SUBNETS)
GENERATIONS = (OLDEST, OLDER, NEWER)
