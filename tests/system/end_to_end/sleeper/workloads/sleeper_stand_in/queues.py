"""The queues of a stand-in for Sleeper."""

import json

import boto3

sqs = boto3.client("sqs")


def _url(name):
    return sqs.get_queue_url(QueueName=name)["QueueUrl"]


def send(name, message):
    """Send a message to a queue."""
    sqs.send_message(QueueUrl=_url(name), MessageBody=json.dumps(message))


def take(name):
    """Take one message off a queue; None if it is empty."""
    messages = sqs.receive_message(QueueUrl=_url(name), MaxNumberOfMessages=1).get("Messages")
    if not messages:
        return None
    sqs.delete_message(QueueUrl=_url(name), ReceiptHandle=messages[0]["ReceiptHandle"])
    return json.loads(messages[0]["Body"])
