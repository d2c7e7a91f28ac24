"""The role by which ECS manages the network of tasks."""

from types import SimpleNamespace

import boto3
import pytest
from botocore.stub import Stubber

from aws.client import ecs_role
from aws.client.ecs_role import ensure_role, main


@pytest.fixture
def iam(monkeypatch):
    client = boto3.client("iam", aws_access_key_id="local", aws_secret_access_key="local")
    profiles = []

    def session(profile_name):
        profiles.append(profile_name)
        return SimpleNamespace(client=lambda _: client)

    monkeypatch.setattr(ecs_role.boto3, "Session", session)
    with Stubber(client) as stub:
        stub.profiles = profiles
        yield stub
        stub.assert_no_pending_responses()


def test_an_account_without_the_role_gets_it(iam, capsys):
    iam.add_client_error("get_role", "NoSuchEntity")
    iam.add_response("create_service_linked_role", {}, {"AWSServiceName": "ecs.amazonaws.com"})

    assert main(["-c", "image=none", "--profile", "work"]) == 0

    assert iam.profiles == ["work"]
    assert capsys.readouterr().out == (
        "The account has the role AWSServiceRoleForECS from now on.\n"
    )


def test_an_account_with_the_role_keeps_it(iam):
    role = {
        "RoleName": "AWSServiceRoleForECS", "RoleId": "x" * 16, "Path": "/", "CreateDate": 0,
        "Arn": "arn:aws:iam::123456789012:role/AWSServiceRoleForECS",
    }  # fmt: skip
    iam.add_response("get_role", {"Role": role}, {"RoleName": "AWSServiceRoleForECS"})

    assert not ensure_role(iam.client)


def test_a_refusal_says_what_to_do_if_the_cluster_fails(iam, capsys):
    iam.add_client_error("get_role", "AccessDenied", "User: x is not authorized")

    assert main([]) == 0

    assert capsys.readouterr().err.endswith(
        "User: x is not authorized. If the cluster fails: aws iam create-service-linked-role "
        "--aws-service-name ecs.amazonaws.com\n"
    )
