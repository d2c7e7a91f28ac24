"""Log groups, with the retention of the settings and deleted with the stack."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk.aws_logs import LogGroup, RetentionDays
from constructs import Construct

from tidemark.model.settings import Settings


def log_group(scope: Construct, id_: str, settings: Settings, name: str | None = None) -> LogGroup:
    """Return a log group; CloudFormation names it if ``name`` is None."""
    return LogGroup(
        scope,
        id_,
        log_group_name=name,
        retention=RetentionDays[settings.log_retention],
        removal_policy=RemovalPolicy.DESTROY,
    )
