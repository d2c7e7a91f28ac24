"""CloudFormation's type of EventBridge Scheduler, which moto lacks.

Source: AWS documentation, CloudFormation: Amazon EventBridge Scheduler resource types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.core.exceptions import JsonRESTError
from moto.scheduler.models import scheduler_backends

from local.cloud.resource import Wanted, resource_type

# The parameters of CreateSchedule by the template's names for them.
_PROPERTIES = {
    "Description": "description",
    "EndDate": "end_date",
    "FlexibleTimeWindow": "flexible_time_window",
    "GroupName": "group_name",
    "KmsKeyArn": "kms_key_arn",
    "Name": "name",
    "ScheduleExpression": "schedule_expression",
    "ScheduleExpressionTimezone": "schedule_expression_timezone",
    "StartDate": "start_date",
    "State": "state",
    "Target": "target",
}
_LONGEST_NAME = 64


@resource_type("AWS::Scheduler::Schedule", _PROPERTIES, {"Arn"})
def schedule(wanted: Wanted) -> tuple[str, Mapping[str, str]]:
    """Create a schedule; its Ref is its name."""
    properties = {"Name": wanted.name[-_LONGEST_NAME:], **wanted.properties}
    asked: dict[str, Any] = {name: properties.get(given) for given, name in _PROPERTIES.items()}
    backend = scheduler_backends[wanted.account][wanted.region]
    try:
        created = backend.create_schedule(**asked, action_after_completion=None)
    except JsonRESTError as error:  # which CloudFormation's clients cannot read
        raise ValidationError(message=str(error.message)) from error
    return created.name, {"Arn": created.arn}
