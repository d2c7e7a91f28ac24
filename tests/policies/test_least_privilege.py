"""Least privilege, proved over every call that roles made in the whole clouds of the tests."""

from dataclasses import replace

import pytest

from tests.policies.authorization import TLS
from tests.policies.proof import asked, denied, problems, unneeded
from tests.policies.reasons import REASONS


@pytest.fixture(scope="module")
def recordings(campaign, end_to_end):
    return [*campaign, *end_to_end]


def test_every_call_is_allowed(recordings):
    assert denied(recordings) == []


def test_without_any_one_grant_a_call_of_the_campaign_is_denied(campaign):
    assert list(problems(campaign, whole=True)) == []


def test_every_action_with_a_reason_is_granted_and_needed_by_no_call(campaign):
    found = unneeded(campaign).values()

    for reason in REASONS:
        covered = {action for grant in found if reason.covers(grant) for action in grant.actions}
        assert covered == {*reason.actions}


def test_without_tls_no_object_is_touched_and_nobody_is_told(recordings):
    plain = [
        replace(each, request=replace(each.request, context=frozenset({(TLS, "false")})))
        for recording in recordings
        for each in asked(recording)
        if each.request.action in {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "sns:Publish"}
    ]

    assert plain
    assert not [each for each in plain if each.allowed_without()]


def test_what_was_deployed_is_what_was_synthesised(recordings):
    for deployment in (recording.deployment for recording in recordings):
        written = {
            (role["Ref"], resource["Properties"]["PolicyName"]): resource["Properties"]
            for resource in _resources(deployment.templates, "AWS::IAM::Policy")
            for role in resource["Properties"]["Roles"]
        }
        deployed = {
            (deployment.logical_ids[role], name): document
            for role, policies in deployment.policies.items()
            for name, document in policies.items()
        }

        assert written.keys() == deployed.keys()
        for name, document in deployed.items():
            assert _fits(written[name]["PolicyDocument"], document), name


def test_roles_have_no_other_policies_than_these(campaign):
    templates = campaign[0].deployment.templates

    assert not list(_resources(templates, "AWS::IAM::ManagedPolicy"))
    for role in _resources(templates, "AWS::IAM::Role"):
        # A policy of AWS's, one written into the role, or a boundary would go unproved.
        assert role["Properties"].keys() <= {"AssumeRolePolicyDocument", "Tags"}


def _resources(templates, kind):
    return (
        resource
        for template in templates
        for resource in template["Resources"].values()
        if resource["Type"] == kind
    )


def _fits(written, deployed):
    """Tell whether a value of a template may be what was deployed: of a function's, any text."""
    if isinstance(written, dict) and ("Ref" in written or any("Fn::" in key for key in written)):
        return isinstance(deployed, str)
    if isinstance(written, dict):
        return written.keys() == deployed.keys() and all(
            _fits(value, deployed[key]) for key, value in written.items()
        )
    if isinstance(written, list):
        return len(written) == len(deployed) and all(map(_fits, written, deployed))
    return written == deployed
