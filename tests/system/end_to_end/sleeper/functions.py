"""Functions of a stand-in for Sleeper, which Lambda runs: they fill queues and start tasks."""

import json
import os

import boto3

_MESSAGES = "ApproximateNumberOfMessages"


def _move(source, target):
    """Move all messages of a queue to another one; return how many there were."""
    sqs = boto3.client("sqs")
    urls = [sqs.get_queue_url(QueueName=name)["QueueUrl"] for name in (source, target)]
    moved = 0
    while messages := sqs.receive_message(QueueUrl=urls[0]).get("Messages"):
        for message in messages:
            sqs.send_message(QueueUrl=urls[1], MessageBody=message["Body"])
            sqs.delete_message(QueueUrl=urls[0], ReceiptHandle=message["ReceiptHandle"])
            moved += 1
    return moved


def _left(name):
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[_MESSAGES])
    return int(answer["Attributes"][_MESSAGES])


def find_partitions_to_split(event, _context):
    """Put a partition on the queue, and let another function split it; a schedule finds none."""
    if event.get("source") == "aws.events":
        return
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=os.environ["SPLITTING"])["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="root")
    name = os.environ["SPLITTER"]
    boto3.client("lambda").invoke(FunctionName=name, InvocationType="Event")


def split_partitions(_event, _context):
    """Take the partitions off the queue."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=os.environ["SPLITTING"])["QueueUrl"]
    for message in sqs.receive_message(QueueUrl=url).get("Messages", []):
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def create_jobs(_event, _context):
    """Create a job for the files of each partition."""
    if left := _left(os.environ["SPLITTING"]):
        raise RuntimeError(f"{left} partitions are not split yet")
    _move(os.environ["FILES"], os.environ["JOBS"])


def create_tasks(_event, _context):
    """Start a task for each job."""
    if not (jobs := _left(os.environ["JOBS"])):
        return
    boto3.client("ecs").run_task(
        cluster=os.environ["CLUSTER"],
        taskDefinition=os.environ["FAMILY"],
        count=min(jobs, 10),
        launchType="FARGATE",
        networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-0a1b2c3d"]}},
        overrides=json.loads(os.environ["OVERRIDES"]),
    )


def create_no_tasks(_event, _context):
    """Start no task, whatever the queue has."""
