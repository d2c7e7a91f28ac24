"""``make verify-aws``: its consent and its claims; ``make systems`` runs it whole."""

import json
from types import SimpleNamespace

import boto3
import pytest
from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer

from tests.checks.account import __main__ as account
from tests.checks.account.claims import CLAIMS, NotSeen
from tests.checks.account.stacks import CommandFailed, Update
from tidemark.model.checkout import ROOT

PLACE = "123456789012/us-east-1"
NO_OPTIONS = SimpleNamespace(context=[])


PAGE = (ROOT / "docs" / "verified.md").read_text(encoding="utf-8")
TO_CONFIRM = [
    line.strip("| ").split(" | ")
    for line in PAGE.partition("## To be confirmed in an account")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| claim ")
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_checked_claim_begins_a_row_of_what_an_account_is_to_confirm(claim):
    assert len([row for row, *_ in TO_CONFIRM if row.startswith(claim)]) == 1


def test_each_row_says_how_it_was_narrowed_and_make_verify_aws_checks_what_it_confirms():
    assert len(TO_CONFIRM) > 80
    for claim, narrowed, how in TO_CONFIRM:
        assert narrowed, claim
        # With a setting, the same checks confirm that the stack works with it.
        if how.startswith("`make verify-aws`"):
            assert [each for each in CLAIMS if claim.startswith(each)], claim


@pytest.mark.parametrize(("answer", "is_agreed"), [(PLACE, True), ("yes", False), ("", False)])
def test_only_the_account_and_region_are_an_agreement(answer, is_agreed):
    assert account.agreed(PLACE, answer) is is_agreed


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 1), (CommandFailed("cdk deploy failed"), 1)]
)
def test_everything_is_deleted_after_an_error_and_an_interruption(monkeypatch, error, code):
    removed = endings_of_a_deployment(monkeypatch, error)

    assert account.verified_and_removed(no_service, NO_OPTIONS) == code
    assert removed == [no_service]


def test_everything_is_deleted_after_an_error_that_nobody_expected(monkeypatch):
    removed = endings_of_a_deployment(monkeypatch, ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        account.verified_and_removed(no_service, NO_OPTIONS)
    assert removed == [no_service]


def test_the_second_deployment_has_other_settings_than_the_first():
    for given in ([], ["logRetention=ONE_WEEK", "logsDeadlineSeconds=120"]):
        other = account.stacks.other_settings(given)
        assert [setting.split("=")[0] for setting in other] == [
            "logRetention", "logsDeadlineSeconds",
        ]  # fmt: skip
        assert not {*other} & {*given}


IN_PLACE = Update(
    changes=[
        {"LogicalResourceId": name, "PhysicalResourceId": name.lower(), "ResourceType": kind,
         "Replacement": replacement}
        for name, kind, replacement in [
            ("Logs", "AWS::Logs::LogGroup", "False"),
            ("F", "AWS::Lambda::Function", "False"),
            ("MayInvoke", "AWS::Lambda::Permission", "Conditional"),
        ]
    ],
    before={"Logs": "logs", "F": "f", "MayInvoke": "id"},
    after={"Logs": "logs", "F": "f", "MayInvoke": "id"},
)  # fmt: skip
REPLACED = [{**IN_PLACE.changes[0], "Replacement": "True"}, *IN_PLACE.changes[1:]]


def changed_in_place(update, streams=("job/1",)):
    pages = SimpleNamespace(
        paginate=lambda logGroupName: [{"logStreams": [{"logStreamName": it} for it in streams]}]  # noqa: N803 (AWS's)
    )
    logs = SimpleNamespace(get_paginator=lambda _: pages)
    tasks = [SimpleNamespace(log_stream="job/1")]
    verified = SimpleNamespace(client=lambda _: logs, update=update, tasks=tasks)
    return CLAIMS["A deployment with other settings"](verified)


def test_a_change_that_replaces_nothing_confirms_the_deployment_of_other_settings():
    assert changed_in_place(IN_PLACE) == (
        "3 resources changed; replaced: none; types without a change: none; lost log streams: none"
    )


@pytest.mark.parametrize(
    ("update", "streams", "seen"),
    [
        (IN_PLACE._replace(after={**IN_PLACE.after, "MayInvoke": "x"}), ["job/1"], "d: MayInvoke;"),
        (IN_PLACE._replace(changes=REPLACED), ["job/1"], "replaced: Logs;"),
        (IN_PLACE._replace(changes=IN_PLACE.changes[:1]), ["job/1"], "change: AWS::Lambda::Func"),
        (IN_PLACE, [], "lost log streams: job/1"),
    ],
)
def test_a_replacement_a_missing_change_and_lost_logs_do_not_confirm_it(update, streams, seen):
    with pytest.raises(NotSeen, match=seen):
        changed_in_place(update, streams)


def test_a_failed_deployment_of_other_settings_does_not_confirm_it():
    with pytest.raises(NotSeen, match="the deployment of other settings failed"):
        changed_in_place(None)


@pytest.fixture
def service():
    """Return clients of moto's own services by name; the one-machine cloud deletes no stack."""
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    url = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    session = boto3.Session("key", "secret", region_name="us-east-1")
    yield lambda name: session.client(name, endpoint_url=url)
    server.stop()
    moto_api_backend.reset()


def test_both_stacks_are_deleted_with_all_that_they_hold(service):
    parts = {
        account.stacks.EPHEMERAL_STACK: {
            "Cluster": {"Type": "AWS::ECS::Cluster", "Properties": {"ClusterName": "c"}},
            "Logs": {"Type": "AWS::Logs::LogGroup"},
        },
        account.stacks.DATA: {
            "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "results"}}
        },
    }
    for name, resources in parts.items():
        template = json.dumps({"Resources": resources})
        service("cloudformation").create_stack(StackName=name, TemplateBody=template)
    service("s3").put_object(Bucket="results", Key="a", Body=b"1")
    service("logs").create_log_group(logGroupName="/aws/ecs/containerinsights/c/performance")

    assert account.stacks.remove(service) == []

    assert account.stacks.present(service) == []
    assert service("s3").list_buckets()["Buckets"] == []
    assert service("logs").describe_log_groups()["logGroups"] == []


def no_service(_name):
    """Return no client of a service."""


def endings_of_a_deployment(monkeypatch, error):
    """Let a deployment fail; return the list that gets the client of each removal."""
    removed = []

    def fail(*_):
        raise error

    monkeypatch.setattr(account, "ensure_role", lambda _: False)
    monkeypatch.setattr(account.stacks, "deploy", fail)
    monkeypatch.setattr(account.stacks, "remove", lambda client: removed.append(client) or [])
    return removed
