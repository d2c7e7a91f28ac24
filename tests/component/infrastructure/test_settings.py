import json
from contextlib import suppress

import pytest
from aws_cdk import App
from cfnlint.helpers import REGIONS
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

from cdk.app import WITHOUT_REPORTS, build, check_partition, check_reports
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.settings import read_settings

WRITTEN = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]


def test_the_settings_of_cdk_json_are_accepted():
    assert read_settings(WRITTEN).stack_name == "Tidemark"


def test_context_that_the_cdk_cli_adds_is_ignored():
    additions = {
        "@aws-cdk/core:newStyleStackSynthesis": True,
        "aws:cdk:bundling-stacks": ["**"],
        "acknowledged-issue-numbers": [12345],
        "cli-telemetry": False,
    }

    assert read_settings({**WRITTEN, **additions}) == read_settings(WRITTEN)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"stackName": "no spaces"},
            "cdk.json: context: stackName: 'no spaces' is not accepted; expected a letter, ",
        ),
        (
            {"ephemeral": True},
            "cdk.json: context: ephemeral: True is not accepted for the stack Tidemark, whose "
            "results would be deleted with it; expected the stack TidemarkVerify",
        ),
        ({"logsDeadlineSeconds": -1}, "cdk.json: context: logsDeadlineSeconds: -1 is not accepted"),
        (
            {"logRetention": "2"},
            "cdk.json: context: logRetention: '2' is not accepted; expected 'ONE_WEEK', ",
        ),
        (
            {"systems": "queries"},
            "cdk.json: context: systems: 'queries' is not accepted: it has no folder suites",
        ),
        (
            {"schedules": {"rocksdb": {"cron": "0 2 * * SUN *"}}},
            "cdk.json: context: schedules.rocksdb.cron: '0 2 * * SUN *' is not a supported cron ",
        ),
        (
            {"schedules": {"rocksdb": {"budgetUsd": 0}}},
            "cdk.json: context: schedules.rocksdb.budgetUsd: 0 is not accepted; expected ",
        ),
        (
            {"schedules": {"rocksdb": {"timeZone": "Europe/Atlantis"}}},
            "cdk.json: context: schedules.rocksdb.timeZone: 'Europe/Atlantis' is not a time zone",
        ),
        (
            {"schedules": {"rocksdb": {"at": "noon"}}},
            "cdk.json: context: schedules.rocksdb.at: unknown field; known are cron, timeZone",
        ),
        (
            {"notifyEmail": "nobody"},
            "cdk.json: context: notifyEmail: 'nobody' is not accepted; expected an address ",
        ),
        (
            {"alarms": "perhaps"},
            "cdk.json: context: alarms: 'perhaps' is not accepted; expected true or false",
        ),
        (
            {"vpcId": "vpc-0123456789abcdef0"},
            "cdk.json: context: vpcId and subnetIds: expected both, for an existing network, or",
        ),
        (
            {"vpcId": "vpc-0123456789abcdef0", "subnetIds": "subnet-a"},
            "cdk.json: context: subnetIds.0: 'subnet-a' is not accepted; expected an id",
        ),
        (
            {"reports": "true"},
            "cdk.json: context: reportsPrincipal: '' is not accepted with reports; expected a gro",
        ),
        (
            {
                "reports": True,
                "reportsPrincipal": "arn:aws:quicksight:us-east-1:123456789012:group/default/Perf",
                "schedules": {name: {"cron": "0 * ? * MON-FRI *"} for name in ("rocksdb", "kiwi")},
            },
            "cdk.json: context: schedules: they start more than 32 runs within 24 hours, and each ",
        ),
        (
            {"reportsPrincipal": "Releases"},
            "cdk.json: context: reportsPrincipal: 'Releases' is not accepted; expected an ARN ",
        ),
        (
            {"retiredSuites": "leveldb,My SQL"},
            "cdk.json: context: retiredSuites.1: 'My SQL' is not accepted; expected the name of a ",
        ),
        (
            {"availabilityZones": "usw1-az1"},
            "cdk.json: context: availabilityZones.0: 'usw1-az1' is not accepted; expected the name",
        ),
        *(
            (
                {"availabilityZones": zones},
                f"cdk.json: context: availabilityZones: {zones} is not accepted; expected one zone",
            )
            for zones in (
                "us-west-1a,us-west-1a",
                "us-west-1a,us-west-2a",
                "us-west-2a,us-west-2b,us-west-2c",
            )
        ),
        (
            {
                "availabilityZones": "us-west-1a",
                "vpcId": "vpc-0123456789abcdef0",
                "subnetIds": "subnet-0123456789abcdef0",
            },
            "cdk.json: context: availabilityZones: expected none with vpcId and subnetIds",
        ),
        ({"vpcId": "mine"}, "cdk.json: context: vpcId: 'mine' is not accepted; expected an id"),
        (
            {"permissionsBoundary": "Boundary"},
            "cdk.json: context: permissionsBoundary: 'Boundary' is not accepted; expected an ARN ",
        ),
        (
            {"tags": {"aws:owner": "me"}},
            "cdk.json: context: tags.aws:owner.[key]: 'aws:owner' is not accepted: AWS reserves",
        ),
        (
            {"tags": {"owner": "a\nb"}},
            "cdk.json: context: tags.owner: 'a\\nb' is not accepted; expected up to 256 ",
        ),
        (
            {"tags": {"": "me"}},
            "cdk.json: context: tags.''.[key]: '' is not accepted; expected 1 to 128 letters, ",
        ),
        (
            {"images": "rocksdb=a b"},
            "cdk.json: context: images.rocksdb: 'a b' is not accepted; expected an image ",
        ),
        ({"images": "rocksdb"}, "cdk.json: context: images.rocksdb: '' is not accepted; expected "),
        (
            {"stackName": "Perf-Data"},
            "cdk.json: context: stackName: 'Perf-Data' is not accepted: the stack of the results ",
        ),
        (
            {"caBundle": "LICENSE"},
            "cdk.json: context: caBundle: 'LICENSE' is not accepted; expected a file of PEM ",
        ),
        (
            {"caBundle": "absent.pem"},
            "cdk.json: context: caBundle: 'absent.pem' cannot be read: No such file or directory",
        ),
        (
            {"taskEnvironment": "TIDEMARK_TASK=1"},
            "cdk.json: context: taskEnvironment.TIDEMARK_TASK.[key]: 'TIDEMARK_TASK' is not acc",
        ),
        (
            {"packageIndex": "https://me:secret@packages.example.com/python/"},
            "cdk.json: context: packageIndex: 'https://me:secret@packages.example.com/python/' is ",
        ),
        (
            {"egress": "10.0.0.0"},
            "cdk.json: context: egress.0: '10.0.0.0' is not accepted; expected addresses such as ",
        ),
        (
            {"kmsKey": "alias/mine"},
            "cdk.json: context: kmsKey: 'alias/mine' is not accepted; expected an ARN such as ",
        ),
        (
            {
                "privateNetwork": True,
                "vpcId": "vpc-0123456789abcdef0",
                "subnetIds": "subnet-0123456789abcdef0",
            },
            "cdk.json: context: privateNetwork: True is not accepted with vpcId, in which no task ",
        ),
        (
            {"privateNetwork": "true"},
            "cdk.json: context: privateNetwork: True is not accepted without prebuilt or images: ",
        ),
        (
            {"githubRepository": "database"},
            "cdk.json: context: githubRepository: 'database' is not accepted; expected a reposit",
        ),
        ({"colour": "blue"}, "cdk.json: context: colour: unknown field; known are stackName, "),
    ],
)
def test_a_bad_setting_is_refused_in_one_sentence(change, sentence):
    with pytest.raises(Refused) as refused:
        read_settings({**WRITTEN, **change})

    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_an_unknown_key_of_the_apps_own_context_is_refused():
    with pytest.raises(Refused, match=r"^cdk.json: context: imgae: unknown field; known are "):
        build(App(context={"imgae": "python:3.11"}))


@pytest.mark.parametrize(
    ("region", "partition"),
    [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("us-iso-east-1", "aws-iso")],
)
def test_a_region_of_another_partition_is_refused(region, partition):
    with pytest.raises(Refused) as refused:
        check_partition(region)

    assert str(refused.value) == (
        f"AWS_REGION: '{region}' is not accepted: it is in the partition {partition}; Tidemark "
        "deploys into regions of the partition aws"
    )


def test_reports_are_refused_in_the_regions_without_types_of_quicksight():
    kinds = [f"AWS::QuickSight::{kind}" for kind in ("Analysis", "Dashboard", "DataSet", "Theme")]

    def has(region, kind):
        with suppress(ResourceNotFoundError):
            return PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind) is not None
        return False

    without = {each for each in REGIONS if not all(has(each, kind) for kind in kinds)}
    assert {each for each in without if not each.startswith("cn-")} == WITHOUT_REPORTS

    check_reports("eu-west-2")
    with pytest.raises(Refused, match="reports: True is not accepted in us-west-1: CloudFormation"):
        check_reports("us-west-1")


@pytest.mark.parametrize("region", ["", "eu-west-2", "us-east-1", "xx-new-1"])
def test_every_other_region_is_accepted(region):
    check_partition(region)


def test_a_retired_suite_that_is_still_measured_is_refused():
    with pytest.raises(
        Refused, match=r"^cdk.json: context: retiredSuites: 'rocksdb' is not accepted: it is in sys"
    ):
        build(App(context={"retiredSuites": "rocksdb"}))


def test_an_unknown_suite_is_refused():
    with pytest.raises(Refused, match=r"^cdk.json: context: suites: there is no suite 'oracle'; "):
        build(App(context={"suites": "oracle"}))


def test_a_schedule_of_a_suite_that_is_not_deployed_is_refused():
    with pytest.raises(Refused, match=r"there is no suite 'kiwi'; there are rocksdb$"):
        build(App(context={"suites": "rocksdb", "schedules": {"kiwi": {}}}))


def test_a_schedule_of_an_unknown_suite_is_refused():
    with pytest.raises(
        Refused, match=r"^cdk.json: context: schedules: there is no suite 'oracle'; there are click"
    ):
        build(App(context={"schedules": {"oracle": {}}}))
