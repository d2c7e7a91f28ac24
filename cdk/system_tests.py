"""The ECS cluster that the tests run on, its network, and the programs of each suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import RemovalPolicy, Stack
from aws_cdk.aws_ec2 import (
    GatewayVpcEndpointAwsService,
    GatewayVpcEndpointOptions,
    InterfaceVpcEndpointAwsService,
    IpAddresses,
    IVpc,
    Peer,
    Port,
    SecurityGroup,
    SubnetConfiguration,
    SubnetType,
    Vpc,
)
from aws_cdk.aws_ecs import Cluster, ContainerImage, ContainerInsights
from aws_cdk.aws_logs import ILogGroup, LogGroup, RetentionDays
from aws_cdk.aws_s3 import Bucket
from constructs import Construct

from cdk.policies import acknowledge, kms_key
from cdk.programs import Beside, Program, existing_image, image_of, service_image
from tidemark.model.services import Container, ServiceTask
from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.task import PREPARATION, SERVICE, Task, preparation_variables

_ADDRESSES = "10.0.0.0/20"
INTERFACE_ENDPOINTS = ("ecr.api", "ecr.dkr", "logs")
"""The services of AWS, beside S3, that a task needs to start and to log."""


class Network(Construct):
    """The subnets and the security group of the tasks.

    Attributes
    ----------
    vpc
        The VPC of the subnets.
    subnet_ids
        The subnets in which a task may run.
    public_address
        Whether a task needs a public address to reach anything.
    security_group
        The security group of the tasks of suites without services, which lets nothing in.

    Tasks reach the addresses of the setting ``egress`` alone, if it has some.

    """

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        self.vpc: IVpc
        self._egress = settings.egress
        if settings.vpc_id:
            # No lookup is needed: CDK would only choose from the zones and subnets of the VPC.
            self.vpc = Vpc.from_vpc_attributes(
                self, "Vpc", vpc_id=settings.vpc_id, availability_zones=["any"]
            )
            self.subnet_ids = list(settings.subnet_ids)
        else:
            isolated = settings.private_network
            self.vpc = self._new_vpc(settings.availability_zones, isolated=isolated)
            self.subnet_ids = self.vpc.select_subnets().subnet_ids
        self.public_address = not (settings.vpc_id or settings.private_network)
        self.security_group = self.group(
            self,
            "Tidemark tasks: nothing comes in; out to S3, logs and the package index",
        )

    def group(self, scope: Construct, description: str) -> SecurityGroup:
        """Return a security group that lets nothing in, and out what the settings let out."""
        group = SecurityGroup(
            scope,
            "TaskTraffic",
            vpc=self.vpc,
            description=description,
            allow_all_outbound=not self._egress,
        )
        for each in self._egress:
            peer = Peer.prefix_list(each) if each.startswith("pl-") else Peer.ipv4(each)
            group.add_egress_rule(peer, Port.all_tcp(), "the setting egress")
        return group

    def _new_vpc(self, zones: Sequence[str], *, isolated: bool) -> Vpc:
        # An idle NAT gateway costs money, public subnets do not. S3 traffic takes the endpoint.
        # Addresses cost nothing, and 200 tasks of a suite need as many.
        kind = SubnetType.PRIVATE_ISOLATED if isolated else SubnetType.PUBLIC
        vpc = Vpc(
            self,
            "Vpc",
            ip_addresses=IpAddresses.cidr(_ADDRESSES),
            availability_zones=list(zones) or None,
            max_azs=None if zones else 2,
            nat_gateways=0,
            subnet_configuration=[SubnetConfiguration(name="Tasks", subnet_type=kind)],
            gateway_endpoints={
                "S3": GatewayVpcEndpointOptions(service=GatewayVpcEndpointAwsService.S3)
            },
        )
        if isolated:
            self._add_endpoints(vpc)
        acknowledge(
            vpc,
            "VPC7",
            "Tasks live for minutes, and their security groups let in nothing but tasks of their "
            "own suite. An account that wants flow logs names a network with them (vpcId).",
        )
        return vpc

    def _add_endpoints(self, vpc: Vpc) -> None:
        """Add the endpoints that the tasks of a network without a way out need."""
        group = SecurityGroup(
            self,
            "Endpoints",
            vpc=vpc,
            description="Endpoints of services of AWS: HTTPS from the network",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(Peer.ipv4(_ADDRESSES), Port.tcp(443), "tasks")
        for name in INTERFACE_ENDPOINTS:
            vpc.add_interface_endpoint(
                name.title().replace(".", ""),
                service=InterfaceVpcEndpointAwsService(name),
                security_groups=[group],
                open=False,
            )


def log_group(scope: Construct, id_: str, settings: Settings, name: str | None = None) -> LogGroup:
    """Return a log group; CloudFormation names it if ``name`` is None."""
    return LogGroup(
        scope,
        id_,
        log_group_name=name,
        retention=RetentionDays[settings.log_retention],
        encryption_key=kms_key(scope, f"{id_}Key", settings),
        removal_policy=RemovalPolicy.DESTROY,
    )


class SuiteTasks(Construct):
    """The programs of one suite's tests and services, and their log group and security group."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        suite: Suite,
        settings: Settings,
        bucket: Bucket,
        network: Network,
    ) -> None:
        super().__init__(scope, name)
        self.suite = suite
        # People find the group by this name in the console; the stack's name makes it unique.
        group = f"/{Stack.of(self).stack_name}/{suite.name}"
        self.log_group = log_group(self, "Logs", settings, group)
        # Stack names have no underscore and suite names no hyphen, so no other suite has families
        # that begin with this name.
        of_suite = f"{Stack.of(self).stack_name}_{suite.name}"
        self.family = of_suite if suite.subject.image else None
        self._bucket, self._settings = bucket, settings
        image, entry_point = image_of(self, suite, settings), _entry_point(suite)
        family = self.family if suite.runs_images else None
        self.definition = self._program(
            "Task", suite.task, suite.name, image, entry_point, family=family
        )
        self.services = {
            name: self._service(name, service.task, settings)
            for name, service in suite.services.items()
        }
        self.security_group = self._reachable(network) if suite.services else network.security_group

    def _service(self, name: str, task: ServiceTask, settings: Settings) -> Program:
        scope = Construct(self, f"{name.capitalize()}Service")
        image = service_image(scope, self.suite, name, settings)
        entry_point = [*PREPARATION, *SERVICE, *task.entry_point]
        family = f"{self.family}-{name}" if task.versioned else None
        beside = [
            Beside(each, self._beside_image(scope, each, container), container)
            for each, container in task.beside.items()
        ]
        title = f"{name.capitalize()}Task"
        return self._program(title, task, name, image, entry_point, family=family, beside=beside)

    def _beside_image(self, scope: Construct, name: str, container: Container) -> ContainerImage:
        # No task runs this tag of the version's image, as in image_of.
        image = container.image or self.suite.subject.requirement("version")
        return existing_image(Construct(scope, name.capitalize()), image)

    def _program(
        self,
        name: str,
        task: Task,
        container: str,
        image: ContainerImage,
        entry_point: Sequence[str] | None,
        *,
        family: str | None,
        beside: Sequence[Beside] = (),
    ) -> Program:
        return Program(
            self,
            name,
            task=task,
            container=container,
            image=image,
            entry_point=entry_point,
            environment={
                **self._settings.tasks_variables,
                **preparation_variables(self.suite.subject),
            },
            key=self._settings.kms_key,
            logs=self.log_group,
            log_prefix=self.suite.name,
            bucket=self._bucket,
            family=family,
            owned=self.suite.owned,
            beside=beside,
        )

    def _reachable(self, network: Network) -> SecurityGroup:
        """Return a group of tasks that reach each other at the ports of the services alone.

        A suite has one run at a time, so that these are the tasks of one run.
        """
        description = f"Tidemark tasks of {self.suite.name}: its services by tasks of this group"
        group = network.group(self, description)
        for port in sorted({each.ready.open_port for each in self.suite.services.values()}):
            group.add_ingress_rule(group, Port.tcp(port), "services of the suite")
            if not group.allow_all_outbound:
                group.add_egress_rule(group, Port.tcp(port), "services of the suite")
        return group

    @property
    def roles(self) -> Sequence[str]:
        """The ARNs of the roles that are passed to the tasks."""
        return [role for each in (self.definition, *self.services.values()) for role in each.roles]

    @property
    def run_definitions(self) -> Sequence[str]:
        """The ARNs, or the pattern of ARNs, of the definitions that the tasks are run from."""
        programs = [] if self.suite.runs_images else [self.definition]
        programs += [each for name, each in self.services.items() if not self._is_versioned(name)]
        return [*(each.task_definition_arn for each in programs), *self.image_definitions]

    def _is_versioned(self, service: str) -> bool:
        return bool(self.suite.services[service].task.versioned)

    @property
    def image_definitions(self) -> Sequence[str]:
        """The pattern of the ARNs of the definitions of images; none without images."""
        if self.family is None:
            return []
        family = Stack.of(self).format_arn(
            service="ecs", resource="task-definition", resource_name=f"{self.family}-*:*"
        )
        return [family]


def _entry_point(suite: Suite) -> Sequence[str] | None:
    """Return the start of the tasks' command line; None if it is the image's own."""
    if suite.runs_images:
        # The version is in the image: there is nothing to prepare.
        return suite.task.entry_point or None
    return [*PREPARATION, *suite.task.entry_point]


class SystemTests(Construct):
    """The cluster and network, and the tasks of each suite by its name."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        suites: Mapping[str, Suite],
        settings: Settings,
        bucket: Bucket,
    ) -> None:
        super().__init__(scope, name)
        self.network = Network(self, "Network", settings=settings)
        self.usage_logs = self._usage_logs() if settings.container_insights else None
        self.cluster = Cluster(
            self,
            "Cluster",
            vpc=self.network.vpc,
            # Container Insights names its log group after the cluster.
            cluster_name=Stack.of(self).stack_name,
            container_insights_v2=(
                ContainerInsights.ENABLED if self.usage_logs else ContainerInsights.DISABLED
            ),
        )
        if not self.usage_logs:
            acknowledge(self.cluster, "ECS4", "The setting containerInsights leaves it off.")
        self.suites = {
            name: SuiteTasks(
                self,
                name.capitalize(),
                suite=suite,
                settings=settings,
                bucket=bucket,
                network=self.network,
            )
            for name, suite in suites.items()
        }

    def _usage_logs(self) -> ILogGroup:
        """Return the log group that Container Insights creates, and keeps for a day.

        The stack does not own it: late events would create it again after the stack's deletion, and
        the next deployment would fail (aws/containers-roadmap#2315). A test reads it at once.
        """
        name = f"/aws/ecs/containerinsights/{Stack.of(self).stack_name}/performance"
        return LogGroup.from_log_group_name(self, "UsageLogs", name)
