"""cdk-nag finds nothing in either stack that is not acknowledged where it is."""

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.assertions import Annotations, Match
from aws_cdk.aws_s3 import Bucket
from cdk_nag import AwsSolutionsChecks

from cdk.app import build
from cdk.findings import acknowledge

EVERYTHING = {
    "schedules": {"rocksdb": {}},
    "notifyEmail": "perf@example.com",
    "reports": True,
    "reportsPrincipal": "arn:aws:quicksight:us-east-1:123456789012:group/default/Releases",
}


def synth(app):
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()


def acknowledged(construct):
    """Yield (construct, reason) of each finding acknowledged at or below a construct."""
    for found in construct.node.find_all():
        for entry in found.node.metadata:
            if entry.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY:
                yield from (
                    (found, reason)
                    for rule, reason in entry.data.items()
                    if rule.startswith("AwsSolutions::")
                )


def test_nothing_is_found_in_a_deployment_that_has_turned_everything_on(tmp_path):
    app = App(outdir=str(tmp_path), context=EVERYTHING)
    build(app)
    synth(app)


def test_what_is_found_fails_the_synth_until_it_is_acknowledged_on_its_construct(tmp_path):
    def app():
        app = App(outdir=str(tmp_path))
        bucket = Bucket(Stack(app, "S"), "B", enforce_ssl=True)
        return app, bucket

    bad, _ = app()
    with pytest.raises(RuntimeError, match="server access logs disabled"):
        synth(bad)

    good, bucket = app()
    acknowledge(bucket, "S1", "It is the bucket of access logs itself.")
    synth(good)


def test_every_acknowledgement_has_a_reason_and_stands_on_one_construct(stack):
    everywhere = [*acknowledged(stack), *acknowledged(stack.data)]

    assert everywhere
    for construct, reason in everywhere:
        assert construct not in {stack, stack.data}
        assert reason.endswith(".")
        assert len(reason) > 20


def test_the_cdk_warns_of_nothing(stack):
    for each in (stack, stack.data):
        assert Annotations.from_stack(each).find_warning("*", Match.any_value()) == []
