"""Proof of least privilege over every role call in the whole clouds of the tests."""

from dataclasses import replace

import pytest

from tests.system.policies.authorization import TLS
from tests.system.policies.proof import denied, problems, refused, role_requests, unneeded
from tests.system.policies.reasons import REASONS


@pytest.fixture(scope="module")
def recordings(campaign, end_to_end):
    return [*campaign, *end_to_end]


def test_every_call_is_allowed(recordings):
    assert denied(recordings) == []


def test_every_call_fits_the_model_of_its_api(recordings):
    assert refused(recordings) == set()


def test_every_grant_is_needed_by_a_call_of_the_campaign_or_has_a_reason(campaign):
    assert list(problems(campaign, whole=True)) == []


def test_every_action_with_a_reason_is_granted_and_not_needed(campaign):
    spare = unneeded(campaign).values()

    for reason in REASONS:
        covered = {action for grant in spare if reason.covers(grant) for action in grant.actions}
        assert covered == {*reason.actions}


def test_objects_and_topics_need_tls(recordings):
    plain = [
        replace(each, request=replace(each.request, context=frozenset({(TLS, "false")})))
        for recording in recordings
        for each in role_requests(recording)
        if each.request.action in {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "sns:Publish"}
    ]

    assert plain
    assert not [each for each in plain if each.allowed_without()]


def test_the_deployed_policies_are_the_synthesised_ones(recordings):
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


def test_roles_have_only_inline_policies_of_the_stacks(campaign):
    templates = campaign[0].deployment.templates

    assert not list(_resources(templates, "AWS::IAM::ManagedPolicy"))
    for role in _resources(templates, "AWS::IAM::Role"):
        # The proof does not cover managed policies, policies inside the role or boundaries.
        assert role["Properties"].keys() <= {"AssumeRolePolicyDocument", "Tags"}


def _resources(templates, kind):
    return (
        resource
        for template in templates
        for resource in template["Resources"].values()
        if resource["Type"] == kind
    )


def _fits(written, deployed):
    """Tell whether a deployed value fits the template's, where a function may give any text."""
    if isinstance(written, dict) and ("Ref" in written or any("Fn::" in key for key in written)):
        return isinstance(deployed, str)
    if isinstance(written, dict):
        return written.keys() == deployed.keys() and all(
            _fits(value, deployed[key]) for key, value in written.items()
        )
    if isinstance(written, list):
        return len(written) == len(deployed) and all(map(_fits, written, deployed))
    return written == deployed
