"""The properties that CloudFormation cannot change in a resource: it replaces the resource instead.

Source: AWS CloudFormation's resource schemas, ``createOnlyProperties`` and
``conditionalCreateOnlyProperties``, for each type that the app's stacks may have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

FIXED: Mapping[str, Collection[str]] = {
    "AWS::Athena::NamedQuery": {"Database", "Description", "Name", "QueryString", "WorkGroup"},
    "AWS::Athena::WorkGroup": {"Name"},
    "AWS::CloudWatch::Alarm": {"AlarmName"},
    "AWS::CloudWatch::Dashboard": {"DashboardName"},
    "AWS::EC2::InternetGateway": (),
    "AWS::EC2::Route": {
        "DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId",
        "RouteTableId",
    },
    "AWS::EC2::RouteTable": {"VpcId"},
    "AWS::EC2::SecurityGroup": {"GroupDescription", "GroupName", "VpcId"},
    "AWS::EC2::SecurityGroupIngress": {
        "CidrIp", "CidrIpv6", "FromPort", "GroupId", "GroupName", "IpProtocol",
        "SourcePrefixListId", "SourceSecurityGroupId", "SourceSecurityGroupName",
        "SourceSecurityGroupOwnerId", "ToPort",
    },
    "AWS::EC2::Subnet": {
        "AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "Ipv4IpamPoolId",
        "Ipv4NetmaskLength", "Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv6Native", "Ipv6NetmaskLength",
        "OutpostArn", "VpcId",
    },
    "AWS::EC2::SubnetRouteTableAssociation": {"RouteTableId", "SubnetId"},
    "AWS::EC2::VPC": {
        "CidrBlock", "InstanceTenancy", "Ipv4IpamPoolId", "Ipv4NetmaskLength",
        "VpcEncryptionControl",
    },
    "AWS::EC2::VPCEndpoint": {
        "DnsOptions/PrivateDnsPreference", "DnsOptions/PrivateDnsSpecifiedDomains",
        "ResourceConfigurationArn", "ServiceName", "ServiceNetworkArn", "ServiceRegion",
        "VpcEndpointType", "VpcId",
    },
    "AWS::EC2::VPCGatewayAttachment": {"VpcId"},
    "AWS::ECS::Cluster": {"ClusterName"},
    "AWS::ECS::TaskDefinition": {
        "ContainerDefinitions", "Cpu", "EnableFaultInjection", "EphemeralStorage",
        "ExecutionRoleArn", "Family", "InferenceAccelerators", "IpcMode", "Memory", "NetworkMode",
        "PidMode", "PlacementConstraints", "ProxyConfiguration", "RequiresCompatibilities",
        "RuntimePlatform", "TaskRoleArn", "Volumes",
    },
    "AWS::Events::Rule": {"EventBusName", "Name"},
    "AWS::Glue::Database": {"DatabaseName"},
    "AWS::Glue::Table": {"CatalogId", "DatabaseName", "Name", "TableInput/Name"},
    "AWS::IAM::Policy": (),
    "AWS::IAM::Role": {"Path", "RoleName"},
    "AWS::Lambda::Function": {"DurableConfig", "FunctionName", "PackageType", "TenancyConfig"},
    "AWS::Lambda::Permission": {
        "Action", "EventSourceToken", "FunctionName", "FunctionUrlAuthType",
        "InvokedViaFunctionUrl", "Principal", "PrincipalOrgID", "SourceAccount", "SourceArn",
    },
    "AWS::Logs::LogGroup": {"LogGroupName"},
    "AWS::Logs::QueryDefinition": (),
    "AWS::S3::Bucket": {"BucketName", "BucketNamePrefix", "BucketNamespace"},
    "AWS::S3::BucketPolicy": {"Bucket"},
    "AWS::SNS::Subscription": {"Endpoint", "Protocol", "Region", "TopicArn"},
    "AWS::SNS::Topic": {"FifoTopic", "TopicName"},
    "AWS::SNS::TopicPolicy": (),
    "AWS::SQS::Queue": {"FifoQueue", "QueueName"},
    "AWS::SQS::QueuePolicy": (),
    "AWS::Scheduler::Schedule": {"Name"},
    "AWS::StepFunctions::StateMachine": {"StateMachineName", "StateMachineType"},
}  # fmt: skip
"""The paths of these properties by type, such as ``TableInput/Name``."""
