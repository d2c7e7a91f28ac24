"""Writer of a stand-in for Sleeper: it logs a script, and leaves files as compaction jobs.

The arguments are those of Sleeper's own writers: a bucket and a table up to 0.18; later a mode, the
key of a job, a bucket and a role.
"""

import json
import os
import sys
import time

import boto3

sqs = boto3.client("sqs")
s3 = boto3.client("s3")


def check(arguments):
    """End the task if the arguments are not those of the generation, or its job is missing."""
    expected = json.loads(os.environ["ARGUMENTS"])
    if arguments != expected:
        sys.exit(f"[main] systemtest.ingest.IngestRandomData ERROR  - Usage: {expected}")
    if "combined" in arguments:
        job = s3.get_object(Bucket=os.environ["JOBS_BUCKET"], Key=arguments[1])["Body"].read()
        assert json.loads(job)["ingestMode"] == "DIRECT"


def main():
    """Log the next script, and end with its exit code."""
    check(sys.argv[1:])
    url = sqs.get_queue_url(QueueName=os.environ["SCRIPTS"])["QueueUrl"]
    (message,) = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)["Messages"]
    script = json.loads(message["Body"])
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    time.sleep(script["seconds"])  # a task that ran for less cannot have written so much
    print(*script["lines"], sep="\n")
    files = sqs.get_queue_url(QueueName=os.environ["FILES"])["QueueUrl"]
    for job in script["jobs"]:
        sqs.send_message(QueueUrl=files, MessageBody=json.dumps(job))
    sys.exit(script["exit_code"])


main()
