"""The CloudFormation type of EventBridge Scheduler, which moto lacks.

Source: AWS documentation, CloudFormation: Amazon EventBridge Scheduler resource types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.core.exceptions import JsonRESTError
from moto.scheduler.models import scheduler_backends

from onebox.cloud.resource import TemplateResource, resource_type

# The parameters of CreateSchedule, by property of the template.
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
def schedule(resource: TemplateResource) -> tuple[str, Mapping[str, str]]:
    """Create a schedule; its Ref is its name."""
    properties = {"Name": resource.name[-_LONGEST_NAME:], **resource.properties}
    parameters: dict[str, Any] = {
        parameter: properties.get(name) for name, parameter in _PROPERTIES.items()
    }
    backend = scheduler_backends[resource.account][resource.region]
    try:
        new_schedule = backend.create_schedule(**parameters, action_after_completion=None)
    except JsonRESTError as error:  # CloudFormation's clients cannot read it
        raise ValidationError(message=str(error.message)) from error
    return new_schedule.name, {"Arn": new_schedule.arn}
