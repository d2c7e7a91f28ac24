"""Seven deployments: within four fifths of AWS's limits, and without a finding that has no name.

The deployment of 20 suites with the longest names is a test of ``tests/component``.
"""

import json
import re
import subprocess

import pytest
from aws_cdk import App

from cdk import release
from cdk.app import build
from tests.component.infrastructure import test_limits as limits
from tests.component.infrastructure.test_findings import synth
from tests.component.infrastructure.test_template import linted, with_a_number
from tidemark.model.checkout import ROOT, written_context

pytestmark = pytest.mark.systems

GROUP = "arn:aws:quicksight:us-east-1:123456789012:group/default/Releases"
CONTEXTS = {
    "default": {},
    "scheduled": {"schedules": {"rocksdb": {}, "kiwi": {}}, "notifyEmail": "perf@example.com"},
    "reports": {"reports": True, "reportsPrincipal": GROUP, "dashboard": True},
    "existing network": {
        "vpcId": "vpc-0123456789abcdef0",
        "subnetIds": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    },
    "eight suites with the longest names": {"stackName": limits.STACK},
    "instances": {"systems": "tests/system/end_to_end/system", "images": "*=none"},
    "locked": {
        "stackName": limits.STACK,
        "suites": "rocksdb,clickhouse",
        "privateNetwork": True,
        "prebuilt": True,
        "egress": "10.0.0.0/8,pl-63a5400a",
        "packageIndex": "https://packages.example.com/python/",
        "caBundle": "tests/component/infrastructure/authority.pem",
        "taskEnvironment": "HTTPS_PROXY=http://proxy.example.com:3128",
        "kmsKey": "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "githubRepository": "perf/database",
        "schedules": {"rocksdb": {}},
    },
}


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory):
    """Return a folder with the templates of each deployment, which cdk-nag has accepted."""
    folder = tmp_path_factory.mktemp("assemblies")
    eight = limits.longest_names(tmp_path_factory.mktemp("systems"), 8)
    longest = {"eight suites with the longest names": {"systems": eight}}
    for name, context in CONTEXTS.items():
        out = tmp_path_factory.mktemp("assembly")
        app = App(outdir=str(out), context=written_context() | context | longest.get(name, {}))
        stack = build(app)
        synth(app)
        (folder / name).mkdir()
        for each, file in ((stack, "stack"), (stack.data, "data")):
            template = out / f"{each.stack_name}.template.json"
            template.rename(folder / name / f"{file}.template.json")
    return folder


@pytest.fixture(params=CONTEXTS)
def assembly(request, assemblies):
    """Return the templates of the stack and of its data."""
    return [assemblies / request.param / f"{each}.template.json" for each in ("stack", "data")]


def test_a_deployment_is_within_four_fifths_of_each_limit(assembly):
    file, _ = assembly
    resolver = limits.Resolver(json.loads(file.read_text(encoding="utf-8")))

    assert file.stat().st_size <= 1_000_000 * limits.SHARE
    assert len(resolver.resources) <= 500 * limits.SHARE
    limits.test_the_template_is_smaller_than_cloudformation_accepts(file, resolver)
    for check in (
        limits.test_the_environment_of_a_function_fits_into_4_kb,
        limits.test_the_policies_of_a_role_are_shorter_than_iam_accepts,
        limits.test_a_policy_of_people_is_shorter_than_iam_accepts,
        limits.test_each_name_is_shorter_than_its_service_accepts,
        limits.test_the_definition_of_a_state_machine_is_smaller_than_1_mb,
    ):
        check(resolver)


def test_cfn_lint_accepts_the_templates(assembly, tmp_path):
    templates = [json.loads(file.read_text(encoding="utf-8")) for file in assembly]

    assert linted(tmp_path, *map(with_a_number, templates)) == (0, "")


def test_checkov_finds_what_has_a_reason_and_nothing_else(assemblies):
    checkov = ROOT / ".checkov" / "bin" / "checkov"
    done = subprocess.run(
        [checkov, "--framework", "cloudformation", "--skip-download", "--compact", "--output",
         "json", "--directory", assemblies],
        cwd=assemblies, capture_output=True, text=True, check=False,
    )  # fmt: skip

    results = json.loads(done.stdout)
    assert results["summary"]["parsing_errors"] == 0
    found = {each["check_id"] for each in results["results"]["failed_checks"]}
    # A finding that is gone needs no reason.
    named = re.findall(r"^  - (\w+)", (ROOT / ".checkov.yaml").read_text(), re.MULTILINE)
    assert found == {*named}
    assert len(results["results"]["passed_checks"]) > 1000


def test_the_template_without_the_cdk_is_accepted_and_has_its_code(tmp_path):
    out = tmp_path / "out"

    assert release.main([str(out)]) == 0

    template = json.loads((out / "tidemark.template.json").read_text(encoding="utf-8"))
    assert (out / release.FUNCTIONS / "lambdas" / "plan_run.py").is_file()
    (tmp_path / "linted").mkdir()
    code, problems = linted(tmp_path / "linted", with_a_number(template))
    # W3002: the folder of the code is what `aws cloudformation package` replaces.
    assert {line.split()[0] for line in problems.splitlines() if line[:1] in {"E", "W"}} == {
        "W3002"
    }
    assert code == 4
