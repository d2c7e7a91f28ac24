"""Compaction task of a stand-in for Sleeper: it logs one job after the other until none is left."""

import json
import os
import sys

import boto3

sqs = boto3.client("sqs")


def main():
    """Log the jobs of the queue; a job may end the task with its exit code."""
    url = sqs.get_queue_url(QueueName=os.environ["JOBS"])["QueueUrl"]
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1).get("Messages"):
        job = json.loads(messages[0]["Body"])
        sqs.delete_message(QueueUrl=url, ReceiptHandle=messages[0]["ReceiptHandle"])
        print(*job["lines"], sep="\n", flush=True)
        if job["exit_code"]:
            sys.exit(job["exit_code"])


main()
