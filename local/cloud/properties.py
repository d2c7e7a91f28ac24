"""Which properties of moto's CloudFormation types a template may have here.

moto leaves out a property that it does not know, and reports success. The types that are ours, or
whose modules check them (functions, state machines, rules, task definitions), are not among these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from local.cloud.resource import refuse_unknown

# Kept as they are given, where the type's own API shows them. No packet passes this network.
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

# Without effect on one machine.
_IDLE: Mapping[str, Collection[str]] = {
    "AWS::ECS::Cluster": {"Tags"},  # nobody is charged
    "AWS::S3::Bucket": {"PublicAccessBlockConfiguration"},  # nothing here is public
    "AWS::SNS::Topic": {"Tags"},
}


def check(kind: str, properties: Mapping[str, Any]) -> None:
    """Refuse, by name, a property of one of moto's types that would have no effect."""
    if kind in _KEPT:
        refuse_unknown(kind, properties, {*_KEPT[kind], *_IDLE.get(kind, ())})
