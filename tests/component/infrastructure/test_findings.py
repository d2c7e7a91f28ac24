"""Findings of cdk-nag: both stacks acknowledge each one on its construct."""

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.assertions import Annotations, Match
from aws_cdk.aws_s3 import Bucket
from cdk_nag import AwsSolutionsChecks

from cdk.policies import acknowledge


def synth(app):
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    # Another test may have synthesised the app without these checks.
    app.synth(force=True)


def acknowledgements(construct):
    """Yield (construct, reason) of each finding acknowledged at or below a construct."""
    for part in construct.node.find_all():
        for entry in part.node.metadata:
            if entry.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY:
                yield from (
                    (part, reason)
                    for rule, reason in entry.data.items()
                    if rule.startswith("AwsSolutions::")
                )


def test_a_deployment_with_every_option_has_no_finding(app_of_everything):
    app, _ = app_of_everything
    synth(app)


def test_a_finding_fails_the_synthesis_until_it_is_acknowledged_on_its_construct(tmp_path):
    def app():
        app = App(outdir=str(tmp_path))
        bucket = Bucket(Stack(app, "S"), "B", enforce_ssl=True)
        return app, bucket

    bad, _ = app()
    bad.synth()
    with pytest.raises(RuntimeError, match="server access logs disabled"):
        synth(bad)

    good, bucket = app()
    acknowledge(bucket, "S1", "It is the bucket of access logs itself.")
    synth(good)


def test_every_acknowledgement_has_a_reason_and_stands_on_one_construct(stack):
    pairs = [*acknowledgements(stack), *acknowledgements(stack.data)]

    assert pairs
    for construct, reason in pairs:
        assert construct not in {stack, stack.data}
        assert reason.endswith(".")
        assert len(reason) > 20


def test_the_cdk_gives_no_warning(stack):
    for each in (stack, stack.data):
        assert Annotations.from_stack(each).find_warning("*", Match.any_value()) == []
