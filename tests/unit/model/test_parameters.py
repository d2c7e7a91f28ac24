import math
import re

import pytest
import yaml
from pydantic import ValidationError

from tests.plans import DATABASES, plan_of, with_axes
from tests.refusals import refused
from tidemark.model.checkout import ROOT
from tidemark.model.parameters import Parameter, count
from tidemark.model.refusal import Refused, problems
from tidemark.model.request import resolve_request
from tidemark.model.suite import Suite
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices

RATIO = {"type": "number", "from": 0.5, "to": 2, "default": 1, "means": "ratio"}
CODEC = {"type": "choice", "of": ["lz4", "8"], "default": "lz4", "means": "codec"}
COUNT = {"type": "integer", "from": 1, "to": 9, "default": 3, "unit": "users", "means": "users"}


def parameter(fields):
    return Parameter.model_validate(fields)


def refusals(fields):
    with pytest.raises(ValidationError) as error:
        parameter(fields)
    return [problem.sentence for problem in problems(Parameter, error.value)]


@pytest.mark.parametrize(
    ("fields", "accepted", "refused"),
    [
        (COUNT, [1, 9], [0, 10, 1.0, True, "1", None, [1], math.nan]),
        (RATIO, [0.5, 1, 2], [0.4, 3, True, "1", math.nan, math.inf]),
        (CODEC, ["lz4", "8"], [8, "zstd", None, ["lz4"], {}]),
    ],
)
def test_a_parameter_accepts_the_values_of_its_type_and_bounds(fields, accepted, refused):
    found = parameter(fields)

    assert all(map(found.accepts, accepted))
    assert not any(map(found.accepts, refused))
    assert Parameter.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("fields", "text", "value"),
    [(COUNT, "7", 7), (COUNT, "7.5", "7.5"), (RATIO, "1.5", 1.5), (CODEC, "8", "8")],
)
def test_a_text_of_the_command_line_has_the_type_of_its_parameter(fields, text, value):
    assert parameter(fields).parsed(text) == value


def test_a_number_has_one_form_however_it_is_written():
    assert [str(parameter(RATIO).normal(value)) for value in (1, 1.0, 1.5)] == ["1", "1", "1.5"]
    assert parameter(CODEC).normal("8") == "8"


def test_a_value_is_shown_with_its_unit():
    assert parameter({**COUNT, "to": 9999}).text(5000) == "5,000 users"
    assert parameter(CODEC).text("lz4") == "lz4"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({**COUNT, "from": None}, "a number has the fields `from` and `to`, and no field `of`"),
        ({**COUNT, "of": ["a"]}, "a number has the fields `from` and `to`, and no field `of`"),
        ({**COUNT, "from": 10}, "from is 10; expected 9 (to) or less"),
        ({**COUNT, "from": 0.5}, "from and to: expected whole numbers"),
        ({**CODEC, "of": None}, "a choice has the field `of`, and neither `from` nor `to`"),
        ({**CODEC, "to": 3}, "a choice has the field `of`, and neither `from` nor `to`"),
    ],
)
def test_fields_that_do_not_fit_the_type_are_refused(fields, sentence):
    assert refusals(fields) == [sentence]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {**COUNT, "to": "many"},
            "to: 'many' is not accepted; expected a number up to 9,007,199,254,740,991",
        ),
        (
            {**COUNT, "default": 10},
            "default: 10 is not accepted; expected a whole number from 1 to 9",
        ),
        (
            {**CODEC, "default": "zstd"},
            "default: 'zstd' is not accepted; expected one of lz4, 8",
        ),
        (
            {**COUNT, "colour": "blue"},
            "colour: unknown field; known are type, from, to, of, default, unit, means",
        ),
    ],
)
def test_a_bad_value_is_refused_with_what_is_accepted(fields, sentence):
    assert refusals(fields) == [sentence]


def resolved(declared=DATABASES, **fields):
    suites = {"rocksdb": with_axes(declared)}
    return resolve_request({"suite": "rocksdb", **fields}, suites)


def test_a_run_measures_every_value_of_every_axis_by_default():
    assert resolved().axes == DATABASES


def test_a_run_measures_the_wanted_values_in_the_order_of_the_suite():
    axes = {**DATABASES, "codec": ("lz4", "zstd", "snappy")}

    spec = resolved(axes, axes={"codec": ["snappy", "lz4"]})

    assert spec.axes == {**DATABASES, "codec": ("lz4", "snappy")}


def with_default_axes(axes):
    suite = with_axes({**DATABASES, "codec": ("lz4", "zstd")})
    return suite.model_copy(update={"defaults": suite.defaults.model_copy(update={"axes": axes})})


def test_a_suite_names_the_values_that_a_run_without_its_own_measures():
    suite = with_default_axes({"database": ("mariadb",)})

    def axes(**fields):
        return resolve_request({"suite": "rocksdb", **fields}, {"rocksdb": suite}).axes

    assert axes() == suite.default_axes == {"database": ("mariadb",), "codec": ("lz4", "zstd")}
    assert axes(axes={"database": ["postgresql"], "codec": ["lz4"]}) == {
        "database": ("postgresql",),
        "codec": ("lz4",),
    }


@pytest.mark.parametrize(
    ("axes", "sentence"),
    [
        ({"codec": ["lz4"]}, "axes: rocksdb has no 'codec'; there are database"),
        (
            {"database": ["mariadb", "oracle"]},
            "axes.database: 'oracle' is not accepted; expected one or more of postgresql, mariadb",
        ),
        (
            {"database": ["mariadb"] * 2},
            "axes.database: a value is given twice in mariadb, mariadb",
        ),
        (
            {"database": []},
            "axes.database: [] is not accepted; expected a list of 1 entries or more",
        ),
        ({"database": "mariadb"}, "axes.database: 'mariadb' is not accepted; expected a list"),
        ({"database": [7]}, "axes.database.0: 7 is not accepted; expected a text"),
        (["mariadb"], "axes: ['mariadb'] is not accepted; expected names with values"),
    ],
)
def test_other_axes_and_values_are_refused_by_name(axes, sentence):
    assert refused(resolved, axes=axes) == sentence


def test_an_axis_of_a_suite_without_axes_is_refused():
    with pytest.raises(
        Refused, match="axes: rocksdb has no 'database'; the suite declares no axes; leave it out"
    ):
        resolved({}, axes={"database": ["mariadb"]})


def test_combinations_count_as_trials_before_a_run():
    assert resolved(repetitions=100).most_trials == 2 * 2 * 100

    assert refused(
        resolved, repetitions=100, versions=["8.8.1", "9.0.0", "9.7.3", "9.8.4", "7.4.4"]
    ) == (
        "repetitions: 100 of 5 versions under 2 combinations of axes are 1000 trials; "
        "one run has at most 900"
    )


def test_each_combination_takes_the_time_and_cost_of_a_run_without_axes():
    def expected(spec):
        return estimate(spec, with_axes(DATABASES), list_prices())

    whole, half = expected(resolved()), expected(resolved(axes={"database": ["mariadb"]}))

    assert whole.seconds == 2 * half.seconds
    assert whole.tasks_usd == 2 * half.tasks_usd
    assert whole.insights_bytes == 2 * half.insights_bytes


def test_the_axes_of_the_guide_are_accepted_and_have_the_combinations_that_it_names():
    guide = (ROOT / "docs" / "suites" / "file.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(axes:\n.*?)^```$", guide, re.MULTILINE | re.DOTALL)

    suite = Suite.model_validate({**with_axes({}).model_dump(), **yaml.safe_load(block)})

    assert count(suite.axes) == 4
    assert "2 versions × 4 combinations × 5 repetitions are 40 trials" in guide


def test_a_plan_names_the_axes_of_each_trial():
    plan = plan_of({"repetitions": 1, "versions": ["9.0.0"]}, suite=with_axes(DATABASES))

    assert [trial.name for trial in plan.trials] == [
        "9.0.0 {database: postgresql}", "9.0.0 {database: mariadb}",
    ]  # fmt: skip
    assert type(plan).model_validate_json(plan.model_dump_json()) == plan
