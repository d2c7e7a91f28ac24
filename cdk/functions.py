"""The Lambda functions: their code, and for each the permissions that it needs and no others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import aws_croniter  # type: ignore[import-untyped]
import jsii
import packaging.version
import semver
from aws_cdk import (
    AssetHashType,
    Aws,
    BundlingOptions,
    DockerImage,
    Duration,
    ILocalBundling,
    Stack,
)
from aws_cdk.aws_iam import PolicyStatement, Role, ServicePrincipal
from aws_cdk.aws_lambda import Architecture, Code, Function, LayerVersion, Runtime, Tracing
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_sns import Topic
from constructs import Construct

from cdk.permissions import Needs, needs_of
from cdk.policies import (
    DEFINITIONS,
    INSTANCES,
    acknowledge,
    allow,
    in_cluster,
    instance_arns,
    kms_key,
    objects_finding,
    passing_to_tasks,
    using_key,
    wildcard_finding,
)
from cdk.system_tests import SystemTests, log_group
from tidemark.model.checkout import CODE, ROOT
from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import pack_suite
from tidemark.model.telemetry import EVENT_SOURCE, EVENT_TYPE
from tidemark.model.version_order import versions_parameter
from tidemark.money.capacity import QUOTAS, Quota
from tidemark.pages.shell import LIBRARIES, MODULES

# Powertools 3 with pydantic exists in every region. The version is pinned, as all versions are.
_POWERTOOLS = (
    f"arn:{Aws.PARTITION}:lambda:{Aws.REGION}:017000801446:layer:"
    "AWSLambdaPowertoolsPythonV3-python313-arm64:27"
)
_IGNORE = shutil.ignore_patterns("__pycache__", "pictures.py", "client")
# The packages of the functions, without the command line, its client and the dashboard.
_PACKAGES = ("figures", "model", "money", "pages", "report", "run", "store")


class Functions(Construct):
    """The functions by name: one for each Task state, and the functions called from outside."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        bucket: Bucket,
        tests: SystemTests,
        topic: Topic,
    ) -> None:
        super().__init__(scope, name)
        self._settings, self._bucket, self._tests, self._topic = settings, bucket, tests, topic
        self._layer = LayerVersion.from_layer_version_arn(self, "Powertools", _POWERTOOLS)
        suites = {name: each.suite for name, each in tests.suites.items()}
        deployed = suites.values()
        rules = [name for suite in deployed for name in suite.rules]
        queues = [name for suite in deployed for name in suite.awaited_queues]
        clusters = [name for suite in deployed for name in suite.awaited_clusters]
        self._rules = instance_arns("events", "rule/", rules)
        self._queues = instance_arns("sqs", "", queues)
        self._clusters = instance_arns("ecs", "cluster/", clusters)
        code = _code(suites, settings.systems)
        self.by_state = {
            state: self._function(state, code, needs) for state, needs in needs_of(deployed).items()
        }

    def _function(self, state: str, code: Code, needs: Needs) -> Function:
        logs = log_group(self, f"{state}Logs", self._settings)
        role = self._role(state, needs)
        logs.grant_write(role)
        function = Function(
            self,
            state,
            runtime=Runtime.PYTHON_3_13,
            role=role,
            architecture=Architecture.ARM_64,
            code=code,
            handler=f"lambdas.{module_of(state)}.handler",
            layers=[self._layer],
            memory_size=needs.memory,
            timeout=Duration.seconds(needs.timeout_seconds),
            environment=self._environment(),
            environment_encryption=kms_key(self, f"{state}Key", self._settings),
            log_group=logs,
            tracing=Tracing.ACTIVE,
        )
        acknowledge(
            function, "L1", "The layer of Powertools is pinned for Python 3.13, as its version is."
        )
        return function

    def _role(self, state: str, needs: Needs) -> Role:
        """Return a role with the permissions of its function and without AWS managed policies."""
        role = Role(
            self, f"{state}ServiceRole", assumed_by=ServicePrincipal("lambda.amazonaws.com")
        )
        for statement in (*self._statements(needs), *using_key(self._settings.kms_key)):
            role.add_to_policy(statement)
        for pattern in sorted({*needs.reads, *needs.writes, *needs.deletes}):
            acknowledge(
                role,
                objects_finding(self._bucket, pattern),
                "The objects of a run are named after it, and no run exists yet; the prefix keeps "
                "the function to what its state needs.",
            )
        for arn in self._definitions if needs.registers_images else ():
            acknowledge(role, wildcard_finding(role, arn), DEFINITIONS)
        for arn in self._rules if needs.pauses_rules or needs.resumes_rules else ():
            acknowledge(role, wildcard_finding(role, arn), INSTANCES)
        for arn in self._instance_objects if needs.reads_instances else ():
            acknowledge(role, wildcard_finding(role, arn), INSTANCES)
        for arn in (*self._queues, *self._clusters) if needs.reads_backlogs else ():
            acknowledge(role, wildcard_finding(role, arn), INSTANCES)
        if needs.queries_usage and self._tests.usage_logs:
            acknowledge(
                role,
                wildcard_finding(role, self._tests.usage_logs.log_group_arn),
                "The ARN of a log group that another service creates ends with its streams.",
            )
        acknowledge(
            role,
            "IAM5[Resource::*]",
            "X-Ray, the results of a log query, the defaults of quotas, the reading of a task "
            "definition and, kept to our cluster by a condition, tasks that do not exist yet: none "
            "of these can be named.",
        )
        return role

    def _environment(self) -> dict[str, str]:
        return {
            "BUCKET": self._bucket.bucket_name,
            "CLUSTER": self._tests.cluster.cluster_arn,
            "LOGS_DEADLINE_SECONDS": str(self._settings.logs_deadline_seconds),
            "STACK": Stack.of(self).stack_name,
            "TOPIC": self._topic.topic_arn,
        }

    def _statements(self, needs: Needs) -> list[PolicyStatement]:
        objects = {
            "s3:GetObject": needs.reads,
            "s3:PutObject": needs.writes,
            "s3:DeleteObject": needs.deletes,
        }
        statements = [
            allow([action], [self._bucket.arn_for_objects(pattern) for pattern in patterns])
            for action, patterns in objects.items()
            if patterns
        ]
        if needs.lists:
            prefixes = {"StringLike": {"s3:prefix": list(needs.lists)}}
            statements.append(allow(["s3:ListBucket"], [self._bucket.bucket_arn], prefixes))
        if needs.queries:
            suites = self._tests.suites
            groups = [suites[name].log_group.log_group_arn for name in needs.queries]
            if needs.queries_usage and self._tests.usage_logs:
                groups.append(self._tests.usage_logs.log_group_arn)
            statements.append(allow(["logs:StartQuery"], groups))
            # A query has no ARN: these actions take no resource.
            statements.append(allow(["logs:GetQueryResults", "logs:StopQuery"], ["*"]))
        if needs.tasks:
            # The resource of ListTasks is a container instance, which Fargate lacks, and the tasks
            # of a run do not exist yet.
            statements.append(allow(needs.tasks, ["*"], in_cluster(self._tests.cluster)))
        if needs.registers_images:
            statements += self._image_statements()
        if needs.announces:
            statements.append(allow(["sns:Publish"], [self._topic.topic_arn]))
            statements.append(self._put_events_statement())
        if needs.reads_releases:
            parameters = [self._parameter(suite) for suite in self._tests.suites]
            statements.append(allow(["ssm:GetParameter"], parameters))
        statements += self._instance_statements(needs)
        if needs.reads_quotas:
            statements.append(
                allow(["servicequotas:GetServiceQuota"], [self._quota(quota) for quota in QUOTAS])
            )
            # Service Authorization Reference: this action takes no resource.
            statements.append(allow(["servicequotas:GetAWSDefaultServiceQuota"], ["*"]))
        return statements

    def _instance_statements(self, needs: Needs) -> Iterator[PolicyStatement]:
        """Yield the permissions on instances; none if no suite has instances."""
        if needs.pauses_rules:
            yield allow(["events:DescribeRule", "events:DisableRule"], self._rules)
        if needs.resumes_rules:
            yield allow(["events:EnableRule"], self._rules)
        if needs.reads_backlogs and self._queues:
            yield allow(["sqs:GetQueueUrl", "sqs:GetQueueAttributes"], self._queues)
        if needs.reads_backlogs and self._clusters:
            yield allow(["ecs:DescribeClusters"], self._clusters)
        if needs.reads_instances and self._instance_objects:
            # Anybody may create a bucket with such a name in another account.
            own = {"StringEquals": {"s3:ResourceAccount": Aws.ACCOUNT_ID}}
            yield allow(["s3:GetObject"], self._instance_objects, own)

    def _image_statements(self) -> list[PolicyStatement]:
        """Return the permissions to define images; none if no suite has images."""
        suites = [tasks for tasks in self._tests.suites.values() if tasks.family]
        if not suites:
            return []
        definitions = self._definitions
        registration = {"StringEquals": {"ecs:CreateAction": "RegisterTaskDefinition"}}
        return [
            allow(["ecs:RegisterTaskDefinition"], definitions),
            # Tasks take on the tags of their definition, which separate their cost from others.
            allow(["ecs:TagResource"], definitions, registration),
            # Service Authorization Reference: this action takes no resource.
            allow(["ecs:DescribeTaskDefinition"], ["*"]),
            # A definition names roles: the roles of the suite's own tasks, and no others.
            passing_to_tasks([role for tasks in suites for role in tasks.roles]),
        ]

    @property
    def _definitions(self) -> list[str]:
        """The ARNs of the definitions of images, with a wildcard for each version."""
        return [arn for each in self._tests.suites.values() for arn in each.image_definitions]

    @property
    def _instance_objects(self) -> list[str]:
        """The ARNs of the properties of the suites' instances, with a wildcard for each id."""
        found = [tasks.suite.subject.instance for tasks in self._tests.suites.values()]
        return [
            f"arn:{Aws.PARTITION}:s3:::{bucket}/{key}"
            for instance in found
            if instance
            for bucket, key in instance.addresses("*", Aws.ACCOUNT_ID)
        ]

    def _quota(self, quota: Quota) -> str:
        return Stack.of(self).format_arn(
            service="servicequotas", resource=quota.service, resource_name=quota.code
        )

    def _parameter(self, suite: str) -> str:
        name = versions_parameter(self._settings.stack_name, suite)
        return Stack.of(self).format_arn(
            service="ssm", resource="parameter", resource_name=name.removeprefix("/")
        )

    def _put_events_statement(self) -> PolicyStatement:
        bus = Stack.of(self).format_arn(
            service="events", resource="event-bus", resource_name="default"
        )
        # A function may not put events in the name of another source.
        ours = {"StringEquals": {"events:source": EVENT_SOURCE, "events:detail-type": EVENT_TYPE}}
        return allow(["events:PutEvents"], [bus], ours)


def module_of(state: str) -> str:
    """Return the module of a state's function, such as ``plan_run`` for ``PlanRun``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in state)[1:]


def _code(suites: Mapping[str, Suite], systems: Path) -> Code:
    """Return the asset of all functions, bundled without Docker and named by a hash of its files.

    ``systems`` is the folder that the suites were read from.
    """
    bundling = BundlingOptions(
        # CDK requires an image, but never uses it: the local bundling never declines.
        image=DockerImage.from_registry("scratch"),
        local=_Copy(suites, systems),
    )
    return Code.from_asset(
        str(ROOT / "lambdas"), bundling=bundling, asset_hash_type=AssetHashType.OUTPUT
    )


@jsii.implements(ILocalBundling)
class _Copy:
    """A copy of the packages and their data: the checked suites and queries.

    The runtime provides boto3 and its dependencies, and the layer provides Powertools and pydantic.
    All other imports are pure Python and are copied.
    """

    def __init__(self, suites: Mapping[str, Suite], systems: Path) -> None:
        self._suites, self._systems = suites, systems

    def try_bundle(self, output_dir: str, *, image: object, **_: object) -> bool:
        out = Path(output_dir)
        for package in ("aws", *(f"tidemark/{part}" for part in _PACKAGES)):
            shutil.copytree(CODE / package, out / package, ignore=_IGNORE)
        shutil.copy(CODE / "tidemark" / "__init__.py", out / "tidemark")
        for part in ("lambdas", "queries/logs"):
            shutil.copytree(ROOT / part, out / part, ignore=_IGNORE)
        for library in (aws_croniter, semver):
            folder = Path(str(library.__file__)).parent
            shutil.copytree(folder, out / folder.name, ignore=_IGNORE)
        # The rest of packaging, which no function imports, is nine tenths of it.
        (out / "packaging").mkdir()
        for module in (packaging, packaging.version):
            shutil.copy(str(module.__file__), out / "packaging")
        for suite in self._suites.values():
            pack_suite(suite, self._systems, out)
        _copy_libraries(out)
        return True


def _copy_libraries(out: Path) -> None:
    """Copy the library of flame graphs, if npm installed it: reports have none without it."""
    for name in LIBRARIES:
        library, copy = (folder / MODULES / name for folder in (ROOT, out))
        if library.is_file():
            copy.parent.mkdir(parents=True)
            shutil.copy(library, copy)
