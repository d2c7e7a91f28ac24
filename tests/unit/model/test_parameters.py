import math

import pytest
from pydantic import ValidationError

from tidemark.model.parameters import Parameter
from tidemark.model.refusal import problems

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
