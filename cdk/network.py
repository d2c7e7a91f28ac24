"""The network of the tasks: a new VPC, or existing subnets of the account."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk.aws_ec2 import (
    GatewayVpcEndpointAwsService,
    GatewayVpcEndpointOptions,
    IpAddresses,
    IVpc,
    SecurityGroup,
    SubnetConfiguration,
    SubnetType,
    Vpc,
)
from constructs import Construct

from cdk.findings import acknowledge
from tidemark.model.settings import Settings


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

    """

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        self.vpc: IVpc
        if settings.vpc_id:
            # No lookup is needed: CDK would only choose from the zones and subnets of the VPC.
            self.vpc = Vpc.from_vpc_attributes(
                self, "Vpc", vpc_id=settings.vpc_id, availability_zones=["any"]
            )
            self.subnet_ids = list(settings.subnet_ids)
        else:
            self.vpc = self._new_vpc(settings.availability_zones)
            self.subnet_ids = self.vpc.select_subnets().subnet_ids
        self.public_address = not settings.vpc_id
        self.security_group = SecurityGroup(
            self,
            "TaskTraffic",
            vpc=self.vpc,
            description="Tidemark tasks: nothing comes in; out to S3, logs and the package index",
        )

    def _new_vpc(self, zones: Sequence[str]) -> Vpc:
        # An idle NAT gateway costs money, public subnets do not. S3 traffic takes the endpoint.
        vpc = Vpc(
            self,
            "Vpc",
            ip_addresses=IpAddresses.cidr("10.0.0.0/24"),
            availability_zones=list(zones) or None,
            max_azs=None if zones else 2,
            nat_gateways=0,
            subnet_configuration=[
                SubnetConfiguration(name="Public", subnet_type=SubnetType.PUBLIC)
            ],
            gateway_endpoints={
                "S3": GatewayVpcEndpointOptions(service=GatewayVpcEndpointAwsService.S3)
            },
        )
        acknowledge(
            vpc,
            "VPC7",
            "Tasks live for minutes, and their security groups let in nothing but tasks of their "
            "own suite. An account that wants flow logs names a network with them (vpcId).",
        )
        return vpc
