"""Any input gives a plan that can be run, or one sentence that names the field."""

import json
import math
import re
import shutil
from collections import Counter
from datetime import UTC, datetime

import pytest
import yaml
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from tidemark.model.metric import MOST_SAMPLES
from tidemark.model.parameters import MOST_TASKS
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.request import RunRequest, resolve_request
from tidemark.model.run_id import MOST_TRIALS
from tidemark.model.settings import Settings, read_settings
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import FOLDER
from tidemark.model.suite_files import read_suite, read_suites
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices
from tidemark.run.plan_run import make_plan

SUITES = read_suites()
ROCKSDB = (FOLDER / "rocksdb" / "suite.yaml").read_text(encoding="utf-8")
FIELDS = sorted(RunRequest.model_fields)
LONGEST_SENTENCE = 1500


def nested(depth, value=0):
    for _ in range(depth):
        value = [value]
    return value


# Texts that people type, that programs send, and that attackers try.
NASTY = (
    "", " ", "9.0.0\n", "9.0.0 ", " 9.0.0", "９.0.0", "٩.0.0", "9.0.0\0", "9.0.0\u2028",
    "\u202e0.0.9", "\ud800", "9.0.\udfff", "../x", "../../runs/x", "/etc/passwd", "..%2f", "$(x)",
    "`x`", "; rm -rf /", '9.0" | filter 1', "9.0.0' OR '1'='1", "'; DROP TABLE rates; --", "%s%n",
    "{0}", "{{x}}", "${x}", "s3://b/k", "*", "-", "--help", "NaN", "null", "1e999", "newest", "9",
    "9.0", "9.0.0.0", "999.999.999", "v9.0.0", "9.0.0-rc1", "1" * 64, "1" * 65, "1." * 40,
    "x" * 1_000_000, "\x1b[31m", "\x07", "é", "☃",
)  # fmt: skip
NUMBERS = (
    True, False, -1, 0, 1.0, 0.5, -0.0, 1e999, -1e999, math.nan, 2**31, 2**63, 2**64, 10**400, 901,
)  # fmt: skip
texts = st.sampled_from(NASTY) | st.text(st.characters(), max_size=20)
scalars = st.none() | st.sampled_from(NUMBERS) | st.integers() | st.floats() | texts
values = st.one_of(
    scalars,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=8,
    ),
    st.builds(nested, st.sampled_from([5, 50, 500]), scalars),
    st.builds(lambda item, times: [item] * times, scalars, st.sampled_from([1, 2, 20, 21, 10_000])),
)  # fmt: skip
KNOWN = list(SUITES["rocksdb"].subject.versions)
valid = st.fixed_dictionaries(
    {"suite": st.just("rocksdb")},
    optional={
        "versions": st.lists(st.sampled_from(KNOWN), min_size=1, max_size=11, unique=True),
        "baseline": st.none() | st.sampled_from(KNOWN),
        "repetitions": st.none() | st.integers(1, 100),
        "parameters": st.fixed_dictionaries(
            {}, optional={"tasks": st.integers(1, 100), "records": st.integers(1, 10_000_000)}
        ),
        "budget_usd": st.none() | st.floats(0, 1e6, exclude_min=True),
        "note": st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=500),
        "trigger": st.sampled_from(["console", "schedule", "cli"]),
    },
)  # fmt: skip


@st.composite
def nearly_valid(draw):
    fields = draw(valid)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(FIELDS) | texts)
        if draw(st.booleans()):
            fields[name] = draw(values)
        else:
            fields.pop(name, None)
    return fields


def answer(read, *arguments):
    """Return the result of ``read`` and '', or None and the message of its refusal."""
    try:
        return read(*arguments), ""
    except Refused as refused:
        sentence = str(refused)
    assert all(line.isprintable() for line in sentence.split("\n"))
    assert max(map(len, sentence.split("\n"))) <= LONGEST_SENTENCE
    assert " should " not in sentence, "pydantic's words, not ours"
    return None, sentence


def assert_plan_or_sentence(value):
    request, sentence = answer(resolve_request, value, SUITES)
    if request:
        assert_can_be_run(request, SUITES[request.suite])
    elif ": unknown field; known are " not in sentence:
        # The name of an axis or a parameter may be any text.
        assert re.match(r"(\w+)(\..+?)?: ", sentence)[1] in {"input", *FIELDS}


def assert_can_be_run(request, suite):
    plan = make_plan(
        request,
        suite,
        name="20261120T124455Z-abcdef",
        execution_arn="arn:x",
        started_at=datetime(2026, 11, 20, tzinfo=UTC),
    )
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert all(map(suite.subject.has, {*request.versions} - request.slowed.keys()))
    assert Counter((trial.repetition, trial.version) for trial in plan.trials) == Counter(
        (n, version) for n in range(1, request.most_repetitions + 1) for version in request.versions
    )
    assert [trial.trial for trial in plan.trials] == list(range(1, len(plan.trials) + 1))
    assert 1 <= len(plan.trials) <= MOST_TRIALS
    assert 1 <= request.tasks <= MOST_TASKS
    assert request.parameters.keys() == suite.parameters.keys()
    assert all(suite.parameters[name].accepts(each) for name, each in request.parameters.items())
    assert request.tasks * max(test.jobs for test in suite.tests) <= MOST_SAMPLES
    assert request.baseline is None or request.baseline in request.versions
    assert len(request.note.splitlines()) <= 1
    assert math.isfinite(estimate(request, suite, list_prices()).seconds)


@fuzz(600)
@given(values | st.dictionaries(st.sampled_from(FIELDS) | texts, values, max_size=8))
def test_any_value_as_input_is_answered(value):
    assert_plan_or_sentence(value)


@fuzz(1000)
@given(nearly_valid())
def test_any_nearly_valid_input_is_answered(fields):
    assert_plan_or_sentence(fields)


@fuzz(200)
@given(valid)
def test_an_input_of_valid_fields_is_refused_for_its_size_or_baseline_only(fields):
    request, sentence = answer(resolve_request, fields, SUITES)

    assert request or sentence.startswith(("repetitions: ", "baseline: "))


@fuzz(300)
@given(st.lists(texts | st.sampled_from(KNOWN), min_size=1, max_size=3), st.booleans())
def test_any_text_as_a_version_is_in_the_suite_or_refused(versions, as_baseline):
    fields = {"suite": "rocksdb", "versions": versions}
    if as_baseline:
        fields["baseline"] = versions[-1]

    assert_plan_or_sentence(fields)


@pytest.mark.parametrize(
    "text",
    [
        '{"suite": "rocksdb", "suite": "x"}',
        '{"suite": "x", "suite": "rocksdb"}',
        '{"suite": "rocksdb", "tasks": 1e999}',
        '{"suite": "rocksdb", "tasks": NaN, "records": -Infinity}',
        '{"suite": "rocksdb", "note": "\\ud800"}',
        '{"suite": "rocksdb", "\\ud800": 1}',
        '{"suite": "rocksdb", "a\\nb\\u0000": 1}',
        '{"suite": "rocksdb", "": 1}',
        '{"suite": "rocksdb", "__proto__": {}}',
        '{"suite": "rocksdb", "versions": ' + "[" * 900 + "]" * 900 + "}",
        '{"suite": "rocksdb", "versions": ' + '{"a":' * 900 + "0" + "}" * 900 + "}",
        '{"suite": "rocksdb", "records": ' + "9" * 4000 + "}",
    ],
)  # fmt: skip
def test_json_that_runtimes_read_differently_is_answered(text):
    assert_plan_or_sentence(json.loads(text))


# Values of YAML, texts at which YAML fails, and texts that are not data.
FRAGMENTS = (
    "", "~", "true", "1", "-1", "0", "1.5", ".inf", ".nan", "1e999", "x", "'x'", "[]", "{}", "[1]",
    "{a: 1}", "[a, [b, {c: d}]]", "2026-11-20", "2026-13-45", "1:99", "0o17", "0x" + "f" * 5000,
    "9" * 5000, "[" * 100_000, "{a: " * 1000, "&a [*a]", "&a {x: *a}", "*nope", "!!bool maybe",
    "!!int ''", "!!int x", "!!float x", "!!timestamp x", "!!binary '*'", "!!binary aGk=",
    "!!set {a, a}", "!!omap [a]", "!!pairs x", "!!map [a]",
    "!!python/object/apply:os.system [exit]", "!!python/name:os.system", "!" + "x" * 5000 + " y",
    "{<<: 1}", "{<<: {a: 1}, a: 2}", "{a: 1, a: 2}", "{[1]: 2}", "{1: 2, ~: 3}", "|\n  a\n  b",
    '"\\0"', '"\\x07"', '"\\u2028"', "x" * 5000, "\x07", "\ufeff", "%YAML 9", "--- a", "...",
    "@", "`", "'", '"', "(", "(a+)+$", "'(\\d+)\\1'", "'(?=a)'", "&a [x, x], &b [*a, *a]", "\t",
    "? a", "- ", ": ",
)  # fmt: skip
LAUGHS = "\n".join(
    ["a0: &a0 [ha, ha]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
)  # fmt: skip
LINES = ROCKSDB.splitlines()


@st.composite
def mutated_text(draw):
    """Draw the suite's file with lines dropped, doubled, moved in or given another value."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 2))):
        n = draw(st.integers(0, len(lines) - 1))
        key, colon, _ = lines[n].partition(":")
        lines[n : n + 1] = draw(
            st.sampled_from([
                [], [lines[n]] * 2, ["  " + lines[n]], [lines[n].lstrip()], [key],
                [f"x{key}{colon} 1"],
                *([f"{key}: {fragment}"] for fragment in FRAGMENTS),
            ])
        )  # fmt: skip
    return "\n".join(lines).encode()


def paths(value, at=()):
    yield at
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*at, key))


TREE = yaml.safe_load(ROCKSDB)
PATHS = [path for path in paths(TREE) if path]


@st.composite
def mutated_tree(draw):
    """Draw the suite's file with one value, however deep, replaced by any other."""
    *above, last = draw(st.sampled_from(PATHS))
    tree = inner = json.loads(json.dumps(TREE))
    for key in above:
        inner = inner[key]
    inner[last] = draw(scalars | st.lists(scalars, max_size=3))
    return yaml.safe_dump(tree).encode("utf-8", "surrogatepass")


def assert_suite_or_sentence(tmp_path, content):
    path = tmp_path / "suites" / "rocksdb" / "suite.yaml"
    shutil.copytree(FOLDER / "rocksdb", path.parent, dirs_exist_ok=True)
    path.write_bytes(content)
    suite, sentence = answer(read_suite, path)
    if suite:
        assert Suite.model_validate_json(suite.model_dump_json()) == suite
        assert_can_be_run(resolve_request({"suite": "rocksdb"}, {"rocksdb": suite}), suite)
    else:
        assert re.match(r"rocksdb/suite\.yaml(:\d+)?: ", sentence)


@fuzz(150)
@given(content=mutated_text())
def test_any_text_of_a_suite_file_is_a_suite_or_refused(tmp_path, content):
    assert_suite_or_sentence(tmp_path, content)


@fuzz(150)
@given(content=mutated_tree())
def test_any_value_in_a_suite_file_is_a_suite_or_refused(tmp_path, content):
    assert_suite_or_sentence(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        ROCKSDB.encode("utf-16"),
        ROCKSDB.encode() + b"\xff",
        b"\0",
        b"{1: a, 0x1: b}",
        b"- a",
        b"a",
        b"[" * 2_000,
        LAUGHS.encode(),
        LINES[0].encode() + b"\n" + LAUGHS.encode() + b"\ntests: *a39\n",
        ROCKSDB.replace("tests:", LAUGHS + "\ntests: *a39\nx:").encode(),
        ROCKSDB.encode() + b"---\n" + ROCKSDB.encode(),
    ],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_refused(tmp_path, content):
    (tmp_path / "suites" / "rocksdb").mkdir(parents=True)
    (tmp_path / "suites" / "rocksdb" / "suite.yaml").write_bytes(content)

    suites, sentence = answer(read_suites, tmp_path)

    assert suites is None
    assert re.match(r"rocksdb/suite\.yaml(:\d+)?: ", sentence)


CONTEXT = json.loads((FOLDER.parent / "cdk.json").read_text(encoding="utf-8"))["context"]


@fuzz(300)
@given(st.dictionaries(st.sampled_from(sorted(CONTEXT)) | texts, values, max_size=4), st.booleans())
def test_any_context_is_settings_or_refused(context, whole):
    accepted, sentence = answer(read_settings, {**CONTEXT, **context} if whole else context)

    if accepted:
        assert Settings.model_validate_json(accepted.model_dump_json(by_alias=True)) == accepted
    else:
        assert sentence.startswith("cdk.json: context: ")
