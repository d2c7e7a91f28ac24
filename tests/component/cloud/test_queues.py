"""The messages that a queue of the one-machine cloud has left."""

from aws.look_ups import SqsQueues


def test_a_queue_has_the_messages_that_wait_are_delayed_or_are_in_work(endpoint):
    sqs = endpoint.client("sqs")
    url = sqs.create_queue(QueueName="jobs")["QueueUrl"]
    queues = SqsQueues(sqs)
    assert (queues.left("jobs"), queues.left("absent")) == (0, None)

    for delay in (0, 0, 900):
        sqs.send_message(QueueUrl=url, MessageBody="a job", DelaySeconds=delay)
    (received,) = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)["Messages"]
    assert queues.left("jobs") == 3

    sqs.delete_message(QueueUrl=url, ReceiptHandle=received["ReceiptHandle"])
    assert queues.left("jobs") == 2
