"""A stand-in for a deployed instance of Sleeper, made by the ordinary APIs of a cloud."""

import io
import json
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from onebox.app import ACCOUNT
from tests.system.end_to_end.sleeper.generations import (
    Generation,
    TaskKind,
    compaction_lines,
    ingest_job_line,
    properties,
    writer_lines,
)

FOLDER = Path(__file__).parent
_TRUST = {"Version": "2012-10-17", "Statement": []}
_ACTIONS = [
    "s3:GetObject", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:SendMessage",
]  # fmt: skip
_FIFO = {"FifoQueue": "true"}
_HANDLERS = ("create_ingest_tasks", "create_jobs", "create_tasks")


class Told(NamedTuple):
    """The figures in the logs of a test: rows and seconds of writers, and rates of jobs."""

    writers: Sequence[tuple[int, float]]
    rates: Sequence[float]


class StandIn:
    """An instance with an id in the cloud whose clients ``client`` makes.

    ``mode`` is that of its writers, ``direct`` or ``queue``.
    """

    def __init__(
        self,
        client: Callable[[str], Any],
        generation: Generation,
        instance: str,
        mode: str = "direct",
    ) -> None:
        self.generation, self.instance, self._mode = generation, instance, mode
        self._client = client

    def named(self, text: str) -> str:
        """Return a text of the generation with the id and the number of the account."""
        return text.replace("{account}", ACCOUNT).replace("{}", self.instance)

    def deploy(self) -> None:
        """Make all that the instance has."""
        self._make_storage()
        for cluster in self.generation.clusters.values():
            self._client("ecs").create_cluster(clusterName=self.named(cluster))
        self._make_role()
        kinds = self.generation
        self._make_tasks(kinds.writer, "writer.py", self._writer_variables())
        self._make_tasks(kinds.ingester, "ingester.py", {"BEGUN": ingest_job_line()})
        lines = json.dumps([*compaction_lines(kinds)])
        self._make_tasks(kinds.compactor, "compactor.py", {"LINES": lines})
        for name, handler in zip(self._functions, _HANDLERS, strict=True):
            self._make_function(name, handler)
        for rule in self.rules:
            self._client("events").put_rule(Name=rule, ScheduleExpression="rate(1 minute)")
        for rule, function in zip(self._scheduled, self._functions, strict=True):
            self._make_target(rule, function)

    def tell(self, *tests: Told, exit_code: int = 0, without: str = "") -> None:
        """Tell the tasks what to log in the tests to come.

        The first writer and the first job of each test end with ``exit_code``. Lines with the text
        ``without`` are left out of their logs.
        """
        for told in tests:
            scripts = [
                {"rows": rows, "seconds": seconds, "exit_code": 0}
                | {"lines": [*writer_lines(self.generation, rows, seconds)]}
                for rows, seconds in told.writers
            ]
            jobs = [{"rate": rate, "exit_code": 0, "without": ""} for rate in told.rates]
            jobs[0] |= {"exit_code": exit_code, "without": without}
            scripts[0]["exit_code"] = exit_code
            if without:
                lines = scripts[0]["lines"]
                scripts[0]["lines"] = [line for line in lines if without not in line]
            for queue, messages in ((self._scripts, scripts), (self._rates, jobs)):
                for message in messages:
                    self._send(queue, message)

    def break_tasks(self) -> None:
        """Let the function that starts compaction tasks start none."""
        name = self._functions[2]
        self._client("lambda").delete_function(FunctionName=name)
        self._make_function(name, "create_no_tasks")

    def lose_a_job(self) -> None:
        """Put a job into the queue of dead jobs."""
        self._send(self.named(self.generation.queues["sleeper.compaction.job.dlq.url"]), "job")

    def run_writer(self, group: str) -> str:
        """Run a writer of a group of tasks; return the ARN of its task."""
        kind = self.generation.writer
        command = json.loads(self._writer_variables()["ARGUMENTS"])
        (task,) = self._client("ecs").run_task(
            cluster=self.named(kind.cluster),
            taskDefinition=self.named(kind.family),
            group=group,
            launchType="FARGATE",
            networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-0a1b2c3d"]}},
            overrides={"containerOverrides": [{"name": kind.container, "command": command}]},
        )["tasks"]
        return str(task["taskArn"])

    def stopped_because(self, task: str) -> str | None:
        """Return why a writer's task has stopped, None if it runs."""
        cluster = self.named(self.generation.writer.cluster)
        (found,) = self._client("ecs").describe_tasks(cluster=cluster, tasks=[task])["tasks"]
        return str(found["stoppedReason"]) if found["lastStatus"] == "STOPPED" else None

    @property
    def rules(self) -> list[str]:
        """The names of the rules that start the functions by a schedule."""
        return [self.named(rule) for rule in self.generation.rules.values()]

    def states(self) -> set[str]:
        """Return the states of the rules."""
        describe = self._client("events").describe_rule
        return {describe(Name=rule)["State"] for rule in self.rules}

    @property
    def _queues(self) -> list[str]:
        return [self.named(queue) for queue in self.generation.queues.values()]

    @property
    def _functions(self) -> list[str]:
        return [self.named(function) for function in self.generation.functions.values()]

    @property
    def _scheduled(self) -> list[str]:
        """The names of the rules of the functions, in their order."""
        named = ("ingest.rule", "compaction.job.creation.rule", "compaction.task.creation.rule")
        rules = self.generation.rules
        return [self.named(rules[f"sleeper.{name}"]) for name in named]

    def _queue(self, name: str) -> str:
        """Return the name of a queue by its property."""
        return self.named(self.generation.queues[f"sleeper.{name}.queue.url"])

    @property
    def _scripts(self) -> str:
        return f"{self.instance}-stand-in-scripts"

    @property
    def _rates(self) -> str:
        return f"{self.instance}-stand-in-rates"

    @property
    def _files(self) -> str:
        return f"{self.instance}-stand-in-files"

    @staticmethod
    def role_of(definition: str) -> str:
        """Return the role of the tasks of an instance, from the ARN of its writers' definition."""
        instance = definition.rsplit("/", 1)[-1].partition("SystemTest")[0]
        return f"{instance}-SystemTestNestedSt-SystemTestTaskFamilyTask-1A2B3C4D5E6F"

    @property
    def _role(self) -> str:
        return self.role_of(f"{self.instance}SystemTest")

    @property
    def _functions_role(self) -> str:
        return f"{self.instance}-CompactionNestedStac-CompactionJobsCreation-1A2B3C4D5E6F"

    @property
    def _role_arn(self) -> str:
        return f"arn:aws:iam::{ACCOUNT}:role/{self._role}"

    def _send(self, queue: str, message: object) -> None:
        sqs = self._client("sqs")
        url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps(message))

    def _make_storage(self) -> None:
        """Make the queues, and the bucket with the properties."""
        sqs, s3 = self._client("sqs"), self._client("s3")
        for queue in (self._scripts, self._rates, self._files):
            sqs.create_queue(QueueName=queue)
        generation = self.generation
        queues = {
            name: sqs.create_queue(QueueName=queue, Attributes=_FIFO if ".fifo" in queue else {})
            for name, queue in zip(generation.queues, self._queues, strict=True)
        }
        urls = {name: made["QueueUrl"] for name, made in queues.items()}
        stated = properties(generation) | urls
        text = "".join(f"{name}={self.named(value)}\n" for name, value in stated.items())
        bucket, key = map(self.named, generation.config)
        s3.create_bucket(Bucket=bucket)
        s3.put_object(Bucket=bucket, Key=key, Body=f"#Instance\n{text}".encode())
        if "sleeper.systemtest.bucket" in generation.texts:
            s3.create_bucket(Bucket=self._jobs_bucket)

    @property
    def _jobs_bucket(self) -> str:
        return self.named(self.generation.texts.get("sleeper.systemtest.bucket", ""))

    def put_job(self) -> None:
        """Store the description of what the writers of a newer generation write."""
        if self._jobs_bucket:
            job = json.dumps({"tableName": "system-test", "ingestMode": self._mode.upper()})
            self._client("s3").put_object(
                Bucket=self._jobs_bucket, Key="jobs/tidemark.json", Body=job.encode()
            )

    def _make_role(self) -> None:
        iam = self._client("iam")
        for role in (self._role, self._functions_role):
            iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(_TRUST))
        statement = {"Effect": "Allow", "Action": _ACTIONS, "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_role_policy(RoleName=self._role, PolicyName="own", PolicyDocument=policy)

    def _writer_variables(self) -> dict[str, str]:
        texts = self.generation.texts
        bucket = self.named(texts["sleeper.config.bucket"])
        arguments = [bucket, "system-test"]
        if role := texts.get("sleeper.ingest.by.queue.role.arn"):
            arguments = ["combined", "jobs/tidemark.json", bucket, self.named(role)]
        return {
            "ARGUMENTS": json.dumps(arguments),
            "JOBS_BUCKET": self._jobs_bucket,
            "MODE": self._mode,
        }

    @property
    def _queue_variables(self) -> dict[str, str]:
        """The names of the queues that programs and functions use."""
        return {
            "SCRIPTS": self._scripts,
            "RATES": self._rates,
            "FILES": self._files,
            "INGEST_JOBS": self._queue("ingest.job"),
            "JOBS": self._queue("compaction.job"),
        }

    def _make_tasks(self, kind: TaskKind, program: str, variables: dict[str, str]) -> None:
        """Make the log group and the definition of tasks, which run a program of this folder."""
        group = self.named(kind.log_group)
        self._client("logs").create_log_group(logGroupName=group)
        options = {
            "awslogs-group": group,
            "awslogs-region": "us-east-1",
            "awslogs-stream-prefix": self.named(kind.stream_prefix or kind.log_group),
        }
        self._client("ecs").register_task_definition(
            family=self.named(kind.family),
            requiresCompatibilities=["FARGATE"],
            networkMode="awsvpc",
            cpu="256",
            memory="512",
            taskRoleArn=self._role_arn,
            containerDefinitions=[
                {
                    "name": kind.container,
                    "image": f"sleeper/{program}",
                    "entryPoint": [sys.executable, "-E", "-s", program],
                    "environment": [
                        {"name": name, "value": value}
                        for name, value in (self._queue_variables | variables).items()
                    ],
                    "dockerLabels": {"tidemark.workload": "sleeper_stand_in"},
                    "logConfiguration": {"logDriver": "awslogs", "options": options},
                }
            ],
        )

    def _make_function(self, name: str, handler: str) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            file.write(FOLDER / "functions.py", "functions.py")
        generation = self.generation
        kinds = {"INGESTER": generation.ingester, "COMPACTOR": generation.compactor}
        variables = self._queue_variables | {
            name: json.dumps([self.named(kind.cluster), self.named(kind.family), kind.container])
            for name, kind in kinds.items()
        }
        self._client("lambda").create_function(
            FunctionName=name,
            Runtime="python3.13",
            Handler=f"functions.{handler}",
            Role=f"arn:aws:iam::{ACCOUNT}:role/{self._functions_role}",
            Timeout=60,
            Code={"ZipFile": packed.getvalue()},
            Environment={"Variables": variables},
        )

    def _make_target(self, rule: str, function: str) -> None:
        events, functions = self._client("events"), self._client("lambda")
        arn = functions.get_function(FunctionName=function)["Configuration"]["FunctionArn"]
        source = events.describe_rule(Name=rule)["Arn"]
        functions.add_permission(
            FunctionName=function,
            StatementId=rule,
            Action="lambda:InvokeFunction",
            Principal="events.amazonaws.com",
            SourceArn=source,
        )
        events.put_targets(Rule=rule, Targets=[{"Id": "function", "Arn": arn}])
