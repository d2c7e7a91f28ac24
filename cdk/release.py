"""One template for teams without the CDK: ``make template`` writes it, with the functions' code.

The template is the synthesis with placeholders for what an account decides, which become
parameters. ``aws cloudformation package`` uploads the code and writes its place into the template.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import App

from cdk.app import build
from tidemark.model.checkout import written_context
from tidemark.model.refusal import Refused
from tidemark.model.settings import Settings, images, read_settings
from tidemark.model.suite_files import chosen_suites, read_suites

FUNCTIONS = "functions"
"""The folder of the code, beside the template."""
_TEMPLATE = "tidemark.template.json"
_VPC, _SUBNET = "vpc-00000000000000000", "subnet-00000000000000000"
_EMAIL = "parameter@example.com"
_KEY = "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-0000-0000-000000000000"
_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "Vpc": {"Type": "AWS::EC2::VPC::Id", "Description": "The network of the tasks"},
    "Subnets": {
        "Type": "List<AWS::EC2::Subnet::Id>",
        "Description": "Its subnets for tasks, which reach S3, ECR and CloudWatch Logs from there",
    },
    "Email": {"Type": "String", "Description": "The address that gets outcomes and alarms"},
    "Key": {
        "Type": "String",
        "Description": "The ARN of the key that encrypts the results; empty for keys of AWS",
    },
}
_HAS_KEY = "HasKey"
_CONDITIONS = {_HAS_KEY: {"Fn::Not": [{"Fn::Equals": [{"Ref": "Key"}, ""]}]}}
_REFERENCES: Mapping[str, Any] = {
    _VPC: {"Ref": "Vpc"},
    _SUBNET: {"Fn::Join": [",", {"Ref": "Subnets"}]},
    _EMAIL: {"Ref": "Email"},
    _KEY: {"Ref": "Key"},
}
_NOTHING = {"Ref": "AWS::NoValue"}
# Amazon ECS developer guide, "Amazon ECS task execution IAM role".
_PULLING = {
    "Effect": "Allow",
    "Action": [
        "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
    ],
    "Resource": "*",
}  # fmt: skip


def with_or_without_key(keyed: Any, plain: Any) -> Any:  # noqa: ANN401 (values of a template)
    """Return a value of the template with a key where the parameter names one, else of the other.

    The lists of both have the same members, but for members that only the key needs.
    """
    if keyed == plain:
        return plain
    if isinstance(keyed, dict) and isinstance(plain, dict) and _NOTHING not in (keyed, plain):
        names = [*keyed, *(name for name in plain if name not in keyed)]
        return {
            name: with_or_without_key(
                keyed.get(name, _NOTHING),
                # A resource may have no properties, but not under a condition.
                plain.get(name, {} if name == "Properties" else _NOTHING),
            )
            for name in names
        }
    if isinstance(keyed, list) and isinstance(plain, list):
        if len(keyed) == len(plain):
            return list(map(with_or_without_key, keyed, plain))
        if [each for each in keyed if each in plain] == plain:
            return [each if each in plain else _if_key(each, _NOTHING) for each in keyed]
    return _if_key(keyed, plain)


def _if_key(keyed: Any, plain: Any) -> Mapping[str, Any]:  # noqa: ANN401 (values of a template)
    return {"Fn::If": [_HAS_KEY, keyed, plain]}


def one_template(
    template: Mapping[str, Any], data: Mapping[str, Any], programs: Mapping[str, str], key: str = ""
) -> dict[str, Any]:
    """Return one template of a stack and its data.

    ``programs`` has the parameter of each image by the placeholder of its name, ``key`` is the
    default of the parameter of the key. What one stack imports from the other becomes a reference.
    """
    exports = {
        output["Export"]["Name"]: output["Value"]
        for output in data["Outputs"].values()
        if "Export" in output
    }
    references = {**_REFERENCES, **{name: {"Ref": each} for name, each in programs.items()}}

    def filled(value: Any) -> Any:  # noqa: ANN401 (a value of a template)
        match value:
            case {"Fn::ImportValue": str(name)}:
                return filled(exports[name])
            case dict():
                return {name: filled(each) for name, each in value.items()}
            case list():
                return [filled(each) for each in value]
            case str() if value in references:
                return references[value]
        return value

    resources = filled({**data["Resources"], **template["Resources"]})
    for name, resource in resources.items():
        if resource["Type"] == "AWS::Lambda::Function":
            resource["Properties"]["Code"] = FUNCTIONS
        if resource["Type"] == "AWS::IAM::Policy" and "ExecutionRole" in name:
            # The registry of an image is not known: its task may pull from any that lets it.
            resource["Properties"]["PolicyDocument"]["Statement"].append(_PULLING)
    of_images = {
        each: {"Type": "String", "Description": f"The image of {name}"}
        for name, each in programs.items()
    }
    return {
        "Description": template["Description"],
        "Parameters": {**_PARAMETERS, "Key": {**_PARAMETERS["Key"], "Default": key}, **of_images},
        "Conditions": _CONDITIONS,
        "Resources": resources,
        "Outputs": filled(template["Outputs"]),
    }


def settings_of_template(settings: Settings) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the context of the synthesis, and the parameter of each placeholder of an image."""
    suites = chosen_suites(settings, read_suites(settings.systems))
    programs = [each.program for each in images(suites, settings) if "{version}" not in each.name]
    names = {f"parameter/{each}:0": _parameter(each) for each in programs}
    context = settings.model_dump(mode="json", by_alias=True) | {
        "vpcId": _VPC,
        "subnetIds": [_SUBNET],
        "availabilityZones": [],
        "privateNetwork": False,
        "notifyEmail": _EMAIL,
        "kmsKey": "",
        "images": dict(zip(programs, names, strict=True)),
    }
    return context, names


def _parameter(program: str) -> str:
    words = program.replace("/", "_").split("_")
    return "Image" + "".join(word.capitalize() for word in words)


def _synthesised(context: Mapping[str, Any], out: Path) -> Sequence[Mapping[str, Any]]:
    """Return the templates of the stack and of its data; copy the code of the functions."""
    with TemporaryDirectory() as folder:
        app = App(outdir=folder, context=context)
        stack = build(app)
        app.synth()
        code = next(each.parent for each in Path(folder).glob("asset.*/lambdas"))
        shutil.copytree(code, out / FUNCTIONS, dirs_exist_ok=True)
        return [
            json.loads(Path(folder, f"{each.stack_name}.template.json").read_text("utf-8"))
            for each in (stack, stack.data)
        ]


def main(arguments: Sequence[str]) -> int:
    """Write the template and the code into a folder; return the exit code."""
    out = Path(arguments[0])
    try:
        settings = read_settings(written_context())
        context, programs = settings_of_template(settings)
        keyed = _synthesised({**context, "kmsKey": _KEY}, out)
        plain = _synthesised(context, out)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    template, data = map(with_or_without_key, keyed, plain)
    text = json.dumps(one_template(template, data, programs, settings.kms_key), ensure_ascii=False)
    (out / _TEMPLATE).write_text(text, encoding="utf-8")
    print(
        f"{out / _TEMPLATE} is written; `aws cloudformation package --template-file "
        f"{out / _TEMPLATE} --s3-bucket BUCKET --output-template-file packaged.yaml` uploads its "
        "code"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
