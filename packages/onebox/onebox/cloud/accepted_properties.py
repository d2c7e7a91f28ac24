"""The properties of moto's CloudFormation types that a template may have here.

moto ignores a property that it does not know, and reports success. The table leaves out our own
types, and the types that other modules check (functions, state machines, rules, task definitions).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from onebox.cloud.resource import refuse_unknown

# moto stores these values, and the type's own API shows them. No packet passes this network.
_KEPT: Mapping[str, Collection[str]] = {
    "AWS::CloudWatch::Dashboard": {"DashboardBody", "DashboardName"},
    "AWS::EC2::InternetGateway": {"Tags"},
    "AWS::EC2::Route": {"DestinationCidrBlock", "GatewayId", "RouteTableId"},
    "AWS::EC2::RouteTable": {"Tags", "VpcId"},
    "AWS::EC2::SecurityGroup": {"GroupDescription", "SecurityGroupEgress", "Tags", "VpcId"},
    "AWS::EC2::Subnet": {"AvailabilityZone", "CidrBlock", "MapPublicIpOnLaunch", "Tags", "VpcId"},
    "AWS::EC2::SubnetRouteTableAssociation": {"RouteTableId", "SubnetId"},
    "AWS::EC2::VPC": {
        "CidrBlock", "EnableDnsHostnames", "EnableDnsSupport", "InstanceTenancy", "Tags",
    },
    "AWS::EC2::VPCEndpoint": {"RouteTableIds", "ServiceName", "Tags", "VpcEndpointType", "VpcId"},
    "AWS::EC2::VPCGatewayAttachment": {"InternetGatewayId", "VpcId"},
    "AWS::ECS::Cluster": {"ClusterName", "ClusterSettings"},
    "AWS::IAM::Policy": {"PolicyDocument", "PolicyName", "Roles"},
    "AWS::IAM::Role": {"AssumeRolePolicyDocument", "PermissionsBoundary", "RoleName", "Tags"},
    "AWS::Logs::LogGroup": {"LogGroupName", "RetentionInDays", "Tags"},
    "AWS::S3::Bucket": {"BucketEncryption", "LifecycleConfiguration", "Tags"},
    "AWS::SNS::Topic": {"TopicName"},
    "AWS::SQS::Queue": {"MessageRetentionPeriod", "QueueName", "SqsManagedSseEnabled", "Tags"},
}  # fmt: skip

# These properties have no effect on one machine.
_IDLE: Mapping[str, Collection[str]] = {
    "AWS::ECS::Cluster": {"Tags"},  # no bill
    # Nothing here is public, and no command reads old versions of objects, which are not kept.
    "AWS::S3::Bucket": {"PublicAccessBlockConfiguration", "VersioningConfiguration"},
    "AWS::SNS::Topic": {"Tags"},
}


def check(kind: str, properties: Mapping[str, Any]) -> None:
    """Refuse, by name, a property of one of moto's types that has no effect."""
    if kind in _KEPT:
        refuse_unknown(kind, properties, {*_KEPT[kind], *_IDLE.get(kind, ())})
