"""The app in an account, which a server of this machine takes the place of, and what goes wrong."""

import json

import click
import pytest
from botocore.exceptions import ClientError

from local.commands.account import console_link, in_account, place

PLACES = {
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}
NAMES = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL")


@pytest.fixture
def nothing(monkeypatch):
    """An environment that tells of no account."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def account(nothing, endpoint, monkeypatch):
    """An environment that tells of this machine's, and a way to create a stack in it."""
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)

    def create(name, *outputs):
        template = {
            "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {output: {"Value": {"Ref": "Topic"}} for output in outputs},
        }
        endpoint.client("cloudformation").create_stack(
            StackName=name, TemplateBody=json.dumps(template)
        )

    return create


def sentence(name="Tidemark"):
    with pytest.raises(click.ClickException) as told, in_account(name):
        pass
    return told.value.message


def test_the_stack_of_an_account_is_found_by_its_name(account):
    account("Tidemark", "StateMachine")

    with in_account("Tidemark") as app:
        assert app.stack.state_machine.startswith("arn:aws:sns:us-east-1:")
        assert app.client("sns").list_topics()["Topics"]
        assert place(app.stack) == "Tidemark in us-east-1 of account 123456789012"


def test_a_stack_that_is_not_there_is_named_with_its_region(account):
    assert sentence("Tidemork") == (
        "--stack: there is no stack 'Tidemork' in us-east-1 of this account; `make deploy` makes it"
    )


def test_a_stack_of_something_else_is_refused(account):
    account("Other", "Topic")

    assert sentence("Other") == "--stack: 'Other' is a stack of something else"


def test_without_a_region_the_sentence_says_where_one_may_be_named(nothing):
    assert sentence() == (
        "--aws: no region is set; AWS_REGION or the profile's configuration may name one"
    )


def test_without_credentials_the_sentence_says_what_makes_some(nothing, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    assert sentence() == (
        "--aws: there are no AWS credentials; `aws configure` or `aws sso login` makes some"
    )


def test_a_profile_that_is_not_there_is_named(nothing, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nope")

    assert sentence() == "--aws: The config profile (nope) could not be found"


def test_what_the_account_refuses_is_told_with_the_action_and_the_reason(account):
    account("Tidemark", "StateMachine")
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "User: x is not authorized"}}

    with pytest.raises(click.ClickException) as told, in_account("Tidemark"):
        raise ClientError(denied, "StartExecution")
    assert told.value.message == (
        "--aws: StartExecution was refused: AccessDeniedException: User: x is not authorized"
    )


@pytest.mark.parametrize(
    ("partition", "region", "console"),
    [
        ("aws", "eu-west-1", "https://eu-west-1.console.aws.amazon.com/states/home?"),
        ("aws-cn", "cn-north-1", "https://cn-north-1.console.amazonaws.cn/states/home?"),
        ("aws-us-gov", "us-gov-west-1", "https://us-gov-west-1.console.amazonaws-us-gov.com/"),
    ],
)
def test_the_console_is_that_of_the_partition_and_region(partition, region, console):
    arn = f"arn:{partition}:states:{region}:123456789012:execution:m:e"

    link = console_link(arn)
    assert link.startswith(console)
    assert link.endswith(f"?region={region}#/v2/executions/details/{arn}")


def test_of_an_unknown_partition_no_console_is_named():
    assert console_link("arn:aws-new:states:new-1:123456789012:execution:m:e") is None
