"""The names of an instance in a suite's file, and what a file may say of them."""

import pytest

from tests.refusals import refused
from tests.unit.kiwi_instance import KIWI, read_kiwi
from tidemark.model.checkout import ROOT
from tidemark.model.instance import InstanceName, filled, words
from tidemark.model.refusal import Refused


def test_a_suite_names_what_it_uses_of_an_instance_by_words(tmp_path):
    suite = read_kiwi(tmp_path, KIWI)

    assert suite.definitions == ["kiwi-{instance}-writer", "{instance}Writer"]
    assert suite.run_clusters == ["kiwi-{instance}-writers"]
    assert suite.found_clusters == ["kiwi-{instance}-compact"]
    assert suite.functions == ["kiwi-{instance}-creator", "{instance}-creator"]
    assert suite.rules == ["kiwi-{instance}-hourly", "{instance}-Nightly"]


@pytest.mark.parametrize(
    ("original", "replacement", "sentence"),
    [
        ("'{writer}'", "'{reader}'", "definition: {reader} is not a name of the instance; there "),
        ("'{writer}'", "'{writers}'", "definition: {writers} is the name of a cluster; expected "),
        ("'{writer}'", "writer", "definition: 'writer' is not accepted; expected a name of the "),
        ("'{writer}'", "'{instance}'", "definition: {instance} is not a name of the instance; "),
        ("'{table}'", "'{tables}'", "command.1: {tables} is not a name of the instance; "),
        ("'{nightly}'", "'{creator}'", "rules.0: {creator} is the name of a function; expected a "),
        ("'{nightly}'", "'{instance}'", "rules.0: {instance} is not a name of the instance; "),
        ("'{creator}'", "'{table}'", "function: {table} is the name of a text; expected "),
        ("'{compactors}'", "'{table}'", "cluster: {table} is the name of a text; expected a "),
        ("          cluster: '{writers}'\n", "", "it also needs cluster"),
        ("          definition: '{writer}'\n", "", "cluster: only accepted together with"),
        ("    roles: ['kiwi-{instance}-*']\n", "", "definition: the instance has no roles, which "),
        ("roles: ['kiwi-{instance}-*']", "roles: ['k-*']", "roles.0: 'k-*' is not accepted; "),
        ("table: {", "instance: {", "names.instance: the word is reserved; expected "),
        (", forms: ['kiwi-{instance}-compact']", "", "forms: required, since the permissions "),
        ("'kiwi-{instance}-compact'", "'k-{instance}'", "forms.0: 'k-{instance}' is not accepted"),
        ("properties: [kiwi.table]", "optional: true", "there are no properties and no forms"),
        ("-compact']", "-{account}']", "forms.0: 'kiwi-{instance}-{account}' is not accepted; "),
        ("properties: [kiwi.subnets]", "forms: [subnets]", "subnets are ids; expected "),
        ("['{compactor}']", "['{table}']", "definitions.0: {table} is the name of a text; "),
        ("forms: ['kiwi-{instance}-compact']", "forms: [abc], container: x", "a cluster has no "),
        ("writers: {", "writers: {optional: true, ", "cluster: {writers} is optional; expected a "),
        ("        began: sleeper_compaction_began\n", "", "metrics.1: the step may find any "),
        ("        began: ", "        values: any\n        began: ", "metrics.1.began: the "),
        ("kind: rule", "kind: rules", "kind: 'rules' is not accepted; expected 'cluster'"),
        ("step: compact\n", "step: create\n", "step: 'create' is not a step with run_tasks; "),
    ],
)  # fmt: skip
def test_a_mistake_with_names_is_refused_with_its_place(tmp_path, original, replacement, sentence):
    assert original in KIWI

    with pytest.raises(Refused) as refused:
        read_kiwi(tmp_path, KIWI.replace(original, replacement, 1))

    assert any(sentence in line for line in str(refused.value).splitlines()), refused.value


def test_only_a_suite_of_instances_has_tasks_of_an_instance(tmp_path):
    subject = KIWI[KIWI.index("subject:") : KIWI.index("task:")]
    text = KIWI.replace(subject, "subject: {package: kiwi, form: x}\n")

    sentences = refused(read_kiwi, tmp_path, text.replace("versions: [deployed]", "versions: [x]"))
    assert "definition: only an instance has definitions, and the subject is none" in sentences
    assert "find_tasks: only an instance has tasks of its own, and the subject is none" in sentences
    assert "function: {creator} has a meaning only if the subject is an instance" in sentences


def test_the_example_of_the_page_is_a_suite(tmp_path):
    page = (ROOT / "docs" / "suites" / "instance.md").read_text(encoding="utf-8")
    example = page.split("## Names of an instance")[1].split("```")[1].removeprefix("yaml")
    start, rest = KIWI[: KIWI.index("subject:")], KIWI[KIWI.index("  form:") : KIWI.index("tests:")]
    subject, tests = example.split("tests:\n")

    suite = read_kiwi(tmp_path, f"{start}{subject}{rest}tests:\n{tests}")

    assert suite.definitions == ["kiwi-{instance}-Writer", "{instance}WriterFamily"]


def test_words_in_braces_are_replaced_and_other_braces_stay():
    text = 'x-{id}-{id} {"a": 1} {A} {}'

    assert words(text) == ["id", "id"]
    assert filled(text, {"id": "7"}) == 'x-7-7 {"a": 1} {A} {}'
    assert words(None) == []


@pytest.mark.parametrize(
    ("fields", "value", "expected"),
    [
        ({"kind": "cluster", "forms": ["kiwi-{instance}"]}, "kiwi-my-id", ""),
        ({"kind": "cluster", "forms": ["kiwi-{instance}"]}, "kiwi-other", "kiwi-my-id"),
        ({"kind": "text", "forms": ["abc-{account}", "abc"]}, "x", "abc-1 or abc"),
        ({"kind": "text", "properties": ["p"]}, "any,text:7", ""),
        ({"kind": "text", "properties": ["p"]}, "a b", "1 to 200 printable characters without "),
        ({"kind": "subnets", "properties": ["p"]}, "subnet-0a1b2c3d,subnet-1a1b2c3d", ""),
        ({"kind": "subnets", "properties": ["p"]}, "subnet-0a1b2c3d, x", "1 to 16 ids such as "),
        ({"kind": "security_groups", "properties": ["p"]}, "", "1 to 5 ids such as sg-0a1b2c3d"),
    ],
)
def test_the_value_of_a_property_has_the_form_of_its_name(fields, value, expected):
    name = InstanceName.model_validate(fields)

    found = name.misfit(value, name.candidates("my-id", "1"))

    assert found.startswith(expected)
    assert bool(found) == bool(expected)
