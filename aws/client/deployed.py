"""A deployed stack over boto3 clients of its cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws.bucket import S3Bucket
from aws.client.athena import AthenaTables
from aws.client.lambda_functions import LambdaFunctions
from aws.client.step_functions import StepFunctionsMachines
from tidemark.client.deployed import Deployed
from tidemark.client.publisher import FunctionPublisher
from tidemark.client.results import Results
from tidemark.client.runs import RunClient
from tidemark.client.stack import Stack


def deployed_stack(
    client: Callable[[str], Any],
    stack: Stack,
    poll_seconds: float,
    reported: Callable[[str], None] = lambda _: None,
) -> Deployed:
    """Return a deployed stack; ``client`` gives a boto3 client by the service's name.

    ``poll_seconds`` is the time between two requests for the state of a run [s]. ``reported`` is
    called with sentences about damaged objects that are read, and those that Athena adds to its
    answers.
    """
    machines = StepFunctionsMachines(client("stepfunctions"))
    functions = LambdaFunctions(client("lambda"))
    results = Results(S3Bucket(client("s3"), stack.bucket, reported))
    database, workgroup = stack.outputs["Database"], stack.outputs["WorkGroup"]
    return Deployed(
        results,
        AthenaTables(client("athena"), database, workgroup, reported),
        FunctionPublisher(functions, machines, stack),
        RunClient(machines, functions, results, stack, poll_seconds),
        stack,
    )
