"""A cloud with a role of tasks: ``python -m tests.system.end_to_end.java_sdk STATE``.

It prints the environment variables of such a task as JSON, and ends when its input does.
"""

import json
import sys
from pathlib import Path

from onebox.app import ACCOUNT, REGION
from onebox.cloud.cloud import start_cloud
from tidemark.one_machine.app import machine_app

ROLE = f"arn:aws:iam::{ACCOUNT}:role/java"
PLACE = f"{REGION}:{ACCOUNT}"
ALLOWED = {
    "s3:*": "arn:aws:s3:::java/data/*",
    "dynamodb:*": f"arn:aws:dynamodb:{PLACE}:table/mine",
    "sqs:*": f"arn:aws:sqs:{PLACE}:mine",
}


def prepare(client):
    """Make the role, and a bucket, tables and queues; the role may use some of them."""
    statements = [
        {"Effect": "Allow", "Action": action, "Resource": resource}
        for action, resource in ALLOWED.items()
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    client("iam").create_role(RoleName="java", AssumeRolePolicyDocument="{}")
    client("iam").put_role_policy(RoleName="java", PolicyName="p", PolicyDocument=policy)
    container = {"name": "main", "image": "none", "memory": 512}
    client("ecs").register_task_definition(
        family="java", containerDefinitions=[container], taskRoleArn=ROLE
    )
    client("s3").create_bucket(Bucket="java")
    for name in ("mine", "theirs"):
        client("dynamodb").create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client("sqs").create_queue(QueueName=name)


if __name__ == "__main__":
    with start_cloud(machine_app(), Path(sys.argv[1])) as cloud:
        prepare(cloud.endpoint.client)
        print(json.dumps(cloud.endpoint.environment(ROLE)), flush=True)
        sys.stdin.read()
