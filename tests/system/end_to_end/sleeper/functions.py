"""Functions of a stand-in for Sleeper, which Lambda runs: they fill queues and start tasks.

Each rule has the file of github.com/gchq/sleeper that it follows.
"""

import json
import os
import uuid

import boto3

_MESSAGES = "ApproximateNumberOfMessages"
# v0.16.0 and v0.36.1 scripts/test/*/system-test-instance.properties: compaction.files.batch.size.
BATCH = 11
# v0.16.0 java/configuration/.../UserDefinedInstanceProperty.java and v0.36.1 java/core/.../
# CompactionProperty.java: the default of compaction.strategy.sizeratio.ratio.
RATIO = 3


def jobs_of(files, batch=BATCH):
    """Return the files of each compaction job of a leaf partition, from the rows of all its files.

    v0.16.0 and v0.36.1 SizeRatioLeafStrategy.java, the default strategy of both: the files in
    ascending order, without the largest ones that the others do not outweigh, in batches that meet
    the same criterion. Files are left over.
    """
    fitting = sorted(files)
    while fitting and not _meets(fitting):
        fitting.pop()
    if len(fitting) <= batch:
        return [fitting] if fitting else []
    found, position = [], 0
    while position < len(fitting):
        job = fitting[position : position + batch]
        if _meets(job):
            found.append(job)
        position += len(job) if _meets(job) else 1
    return found


def _meets(files):
    return len(files) > 1 and RATIO * files[-1] <= sum(files[:-1])


def create_jobs(_event, _context):
    """Create the compaction jobs of a table with one partition, of all files that have no job yet.

    v0.16.0 CreateJobs.java: a job goes to the queue, and its files are not used again.
    """
    files = [json.loads(body)["rows"] for body in _taken(os.environ["FILES"])]
    left = list(files)
    for job in jobs_of(files):
        _send(os.environ["JOBS"], {"id": str(uuid.uuid4()), "rows": sum(job)})
        for rows in job:
            left.remove(rows)
    for rows in left:
        _send(os.environ["FILES"], {"rows": rows})


def create_tasks(_event, _context):
    """Start a compaction task for each job that waits (v0.16.0 jobexecution/RunTasks.java)."""
    _start("COMPACTOR", _left(os.environ["JOBS"]))


def create_ingest_tasks(_event, _context):
    """Start an ingest task for each job that waits (v0.16.0 ingest/starter/RunTasks.java)."""
    _start("INGESTER", _left(os.environ["INGEST_JOBS"]))


def create_no_tasks(_event, _context):
    """Start no task, whatever the queue has."""


def _start(kind, tasks):
    cluster, family, container = json.loads(os.environ[kind])
    # v0.16.0 RunECSTasks.java: RunTask starts ten tasks at most.
    for first in range(0, tasks, 10):
        boto3.client("ecs").run_task(
            cluster=cluster,
            taskDefinition=family,
            count=min(tasks - first, 10),
            launchType="FARGATE",
            networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-0a1b2c3d"]}},
            overrides={"containerOverrides": [{"name": container}]},
        )


def _url(name):
    return boto3.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]


def _send(name, message):
    boto3.client("sqs").send_message(QueueUrl=_url(name), MessageBody=json.dumps(message))


def _taken(name):
    """Yield the messages of a queue, and delete each one."""
    sqs, url = boto3.client("sqs"), _url(name)
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            yield message["Body"]


def _left(name):
    sqs = boto3.client("sqs")
    answer = sqs.get_queue_attributes(QueueUrl=_url(name), AttributeNames=[_MESSAGES])
    return int(answer["Attributes"][_MESSAGES])
