import json

import pytest

from cdk.settings import read_settings
from suites.files import ROOT
from suites.refusal import Refused

WRITTEN = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]


def test_the_settings_of_cdk_json_are_accepted():
    assert read_settings(WRITTEN).stack_name == "Tidemark"


def test_what_the_cdk_cli_adds_to_the_context_is_not_ours():
    added = {"@aws-cdk/core:newStyleStackSynthesis": True, "aws:cdk:bundling-stacks": ["**"]}

    assert read_settings({**WRITTEN, **added}) == read_settings(WRITTEN)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"stackName": "no spaces"}, "cdk.json: context: stackName: 'no spaces' is not accepted: "),
        ({"logsDeadlineSeconds": -1}, "cdk.json: context: logsDeadlineSeconds: -1 is not accepted"),
        ({"logRetention": "2"}, "cdk.json: context: logRetention: '2' is not accepted: "),
        (
            {"systems": "docs"},
            f"cdk.json: context: systems: 'docs' is not accepted: there is no folder {ROOT}/docs/",
        ),
        ({"colour": "blue"}, "cdk.json: context: colour: unknown field; known are stackName, "),
    ],
)
def test_a_bad_setting_is_one_sentence(changed, sentence):
    with pytest.raises(Refused) as refused:
        read_settings({**WRITTEN, **changed})

    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
