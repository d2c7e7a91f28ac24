"""Grants that no recorded call needs, and why they are there all the same."""

from __future__ import annotations

from dataclasses import dataclass

from tests.policies.evaluation import Request, Statement


@dataclass(frozen=True)
class Reason:
    """Why a role is granted actions on resources, given with wildcards, that it never asks for."""

    why: str
    actions: tuple[str, ...]
    resource: str

    def covers(self, grant: Statement) -> bool:
        """Tell whether it is that of a grant of one action on one resource."""
        reasoned = Statement("Allow", self.actions, (self.resource,))
        return reasoned.applies(Request(*grant.actions, *grant.resources))


REASONS = (
    Reason(
        "The ECS agent pulls a task's image with the execution role; no image is run here.",
        ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        "arn:aws:ecr:*:*:repository/*",
    ),
    Reason(
        "So it does with the account's token for all of its repositories, which has no ARN.",
        ("ecr:GetAuthorizationToken",),
        "?",
    ),
    Reason(
        "Lambda and the awslogs driver write what functions and tasks put out, in the name of the "
        "function's or the execution role; here the cloud writes it.",
        ("logs:CreateLogStream", "logs:PutLogEvents"),
        "arn:aws:logs:*:*:log-group:?*:*",
    ),
    Reason(
        "A quota without an applied value has AWS's default; here each has a value.",
        ("servicequotas:GetAWSDefaultServiceQuota",),
        "?",
    ),
    Reason(
        "Lambda and Step Functions send traces; nobody traces here (AWS X-Ray developer guide).",
        ("xray:PutTelemetryRecords", "xray:PutTraceSegments"),
        "?",
    ),
    Reason(
        "Step Functions asks what to sample (AWS Step Functions developer guide, X-Ray).",
        ("xray:GetSamplingRules", "xray:GetSamplingTargets"),
        "?",
    ),
    Reason(
        "A machine that logs sets its delivery up in its own name, where no resource can be named "
        "(AWS Step Functions developer guide, IAM policies for logging to CloudWatch Logs).",
        (
            "logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups",
            "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries",
            "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
        ),
        "?",
    ),
)  # fmt: skip
"""``?`` stands for the resource ``*``, and for no ARN."""
