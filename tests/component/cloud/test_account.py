"""The app in an account, for which a server of this machine stands in, and its errors."""

import json

import click
import pytest
from botocore.exceptions import ClientError

from cdk.permissions import FUNCTIONS
from tidemark.cli.target import console_link, in_account, place

PLACES = {
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}
OUTPUTS = ("StateMachine", "ResultsBucket", "Database", "WorkGroup")
NAMES = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL")


@pytest.fixture
def no_account(monkeypatch):
    """An environment without an account."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def account(no_account, endpoint, monkeypatch):
    """An environment with this machine's account, and a way to create a stack in it."""
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
    with pytest.raises(click.ClickException) as error, in_account(name):
        pass
    return error.value.message


def test_the_stack_of_an_account_is_found_by_its_name(account):
    account("Tidemark", *OUTPUTS)

    with in_account("Tidemark") as app:
        assert app.stack.state_machine.startswith("arn:aws:sns:us-east-1:")
        assert place(app.stack) == "Tidemark in us-east-1 of account 123456789012"


def test_an_invocation_is_not_repeated_while_its_function_may_still_run(account):
    account("Tidemark", *OUTPUTS)

    with in_account("Tidemark") as app:
        waits = app.runs._functions._lambda.meta.config.read_timeout

    invoked = {"EndRun", "RecordRates", "PublishReport", "PublishComparison"}
    assert waits > max(FUNCTIONS[name].timeout_seconds for name in invoked)


def test_the_error_of_a_missing_stack_names_the_stack_and_the_region(account):
    assert sentence("Tidemork") == (
        "--stack: there is no stack 'Tidemork' in us-east-1 of this account; `make deploy` makes it"
    )


def test_a_stack_of_another_app_is_refused(account):
    account("Other", "Topic")

    assert sentence("Other") == "--stack: 'Other' is not a stack of Tidemark"


def test_the_error_without_a_region_says_where_to_set_it(no_account):
    assert sentence() == (
        "--aws: no region is set; AWS_REGION or the profile's configuration may name one"
    )


def test_the_error_without_credentials_says_how_to_get_them(no_account, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    assert sentence() == (
        "--aws: there are no AWS credentials; `aws configure` or `aws sso login` makes some"
    )


def test_the_error_of_a_missing_profile_names_it(no_account, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nope")

    assert sentence() == "--aws: The config profile (nope) could not be found"


def test_the_error_of_a_refused_call_names_the_action_and_the_reason(account):
    account("Tidemark", *OUTPUTS)
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "User: x is not authorized"}}

    with pytest.raises(click.ClickException) as error, in_account("Tidemark"):
        raise ClientError(denied, "StartExecution")
    assert error.value.message == (
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
def test_the_console_link_fits_the_partition_and_region(partition, region, console):
    arn = f"arn:{partition}:states:{region}:123456789012:execution:m:e"

    link = console_link(arn)
    assert link.startswith(console)
    assert link.endswith(f"?region={region}#/v2/executions/details/{arn}")


def test_an_unknown_partition_has_no_console_link():
    assert console_link("arn:aws-new:states:new-1:123456789012:execution:m:e") is None
