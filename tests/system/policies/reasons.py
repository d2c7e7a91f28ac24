"""Grants that no recorded call needs, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

from onebox.cloud.policy_evaluation import Request, Statement


@dataclass(frozen=True)
class Reason:
    """Reason for a grant of actions, on resources with wildcards, that no recorded call needs."""

    why: str
    actions: tuple[str, ...]
    resource: str
    role: str = ""
    """A part of the role's logical id, '' for any role."""
    prefix: str = ""
    """The keys that the grant lets the role list, '' for a grant of another action."""

    def covers(self, grant: Statement) -> bool:
        """Tell whether this is the reason for a grant of one action on one resource."""
        statement = Statement("Allow", self.actions, (self.resource,))
        listed = [
            value for _, key, values in grant.conditions if key == "s3:prefix" for value in values
        ]
        is_listed = not self.prefix or listed == [self.prefix]
        return is_listed and statement.applies(Request(*grant.actions, *grant.resources))


_STEPS = ("CheckCondition", "FindTasks", "PauseRules", "StopServices")

REASONS = (
    *(
        Reason(
            "Only suites with such a step call the function; the campaign's have none, and the "
            "tests of instances and services prove the grant.",
            ("lambda:InvokeFunction",),
            f"arn:aws:lambda:*:*:function:*-WorkflowFunctions{step}*",
            "WorkflowTrialRole",
        )
        for step in _STEPS
    ),
    Reason(
        "No run that the campaign's comparisons choose has an excluded trial.",
        ("s3:GetObject",),
        "arn:aws:s3:::*/runs/*/exclusions/*",
        "PublishComparison",
    ),
    Reason(
        "Nobody comments on the runs of the campaign.",
        ("s3:GetObject",),
        "arn:aws:s3:::*/runs/*/comments/*",
    ),
    Reason(
        "No run that the campaign's comparisons choose was resumed.",
        ("s3:GetObject",),
        "arn:aws:s3:::*/runs/*/resumes/*",
        "PublishComparison",
    ),
    Reason(
        "Only a scheduled run with a budget asks its history; the campaign schedules none.",
        ("s3:GetObject",),
        "arn:aws:s3:::*/history/*",
        "ChooseTrial",
    ),
    *(
        Reason(
            "The same run: S3 says that a key is missing to a role that may list it.",
            ("s3:ListBucket",),
            "arn:aws:s3:::*",
            "ChooseTrial",
            f"history/*/{name}.json",
        )
        for name in ("runs", "windows")
    ),
    Reason(
        "A search writes its plan again for each further comparison; no campaign searches.",
        ("s3:PutObject",),
        "arn:aws:s3:::*/runs/*/plan.json",
    ),
    Reason(
        "An execution that dies while it records a round leaves trials to EndRun or SweepRuns; no "
        "campaign kills one between two trials of a round.",
        ("s3:GetObject",),
        "arn:aws:s3:::*/work/*/measured/*",
    ),
    Reason(
        "The same execution: EndRun or SweepRuns records the rest of its round.",
        ("s3:PutObject",),
        "arn:aws:s3:::*/runs/*/trials/*",
    ),
    Reason(
        "The ECS agent pulls a task's image with the execution role; no image is run here.",
        ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        "arn:aws:ecr:*:*:repository/*",
    ),
    Reason(
        "The ECS agent gets a token for all repositories of the account, which has no ARN.",
        ("ecr:GetAuthorizationToken",),
        "?",
    ),
    Reason(
        "Lambda and the awslogs driver write the output with the function's role or the execution "
        "role; here the cloud writes it.",
        ("logs:CreateLogStream", "logs:PutLogEvents"),
        "arn:aws:logs:*:*:log-group:?*:*",
    ),
    Reason(
        "A function stops a log query that takes longer than its share of the function's time; "
        "here each query is quicker.",
        ("logs:StopQuery",),
        "?",
    ),
    Reason(
        "A suite has no change of level to report before its sixteenth run; no campaign makes as "
        "many.",
        ("s3:PutObject",),
        "arn:aws:s3:::*/history/*/alarms.json",
    ),
    Reason(
        "A window of a history is searched once it has 128 runs; no campaign makes as many.",
        ("s3:PutObject",),
        "arn:aws:s3:::*/history/*/windows.json",
    ),
    Reason(
        "A newer run of a history deletes the changes of the run before it; no sweep of the "
        "campaign ends such a run.",
        ("s3:DeleteObject",),
        "arn:aws:s3:::*/tables/changes/*",
    ),
    Reason(
        "A quota without an applied value has AWS's default; here each quota has a value.",
        ("servicequotas:GetAWSDefaultServiceQuota",),
        "?",
    ),
    Reason(
        "Lambda and Step Functions send traces; here nothing does (AWS X-Ray developer guide).",
        ("xray:PutTelemetryRecords", "xray:PutTraceSegments"),
        "?",
    ),
    Reason(
        "Step Functions reads the sampling rules (AWS Step Functions developer guide, X-Ray).",
        ("xray:GetSamplingRules", "xray:GetSamplingTargets"),
        "?",
    ),
    Reason(
        "A state machine's role sets up the delivery of its logs; these actions take no resource "
        "(AWS Step Functions developer guide, IAM policies for logging to CloudWatch Logs).",
        (
            "logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups",
            "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries",
            "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
        ),
        "?",
    ),
)  # fmt: skip
"""Reasons of all such grants; ``?`` matches the resource ``*`` and no ARN."""

INSTANCE_REASONS = (
    Reason(
        "It enables the rules that CleanUpTrial could not enable; here CleanUpTrial does.",
        ("events:EnableRule",),
        "arn:aws:events:*:*:rule/*",
        role="RecordOutcome",
    ),
    Reason(
        "It ends a run whose EndRun died; here EndRun ends each run that was stopped.",
        ("events:EnableRule",),
        "arn:aws:events:*:*:rule/*",
        role="SweepRuns",
    ),
    Reason(
        "It stops the tasks of a run whose EndRun died; here EndRun stops them.",
        ("ecs:DescribeTasks", "ecs:ListTasks", "ecs:StopTask"),
        "?",
        role="SweepRuns",
    ),
    Reason(
        "ECS may start a task although RunTask answers with an error; here it does not.",
        ("ecs:StopTask",),
        "?",
        role="CollectRates",
    ),
)
"""Reasons of such grants on what instances have."""
