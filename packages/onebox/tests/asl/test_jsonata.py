"""The values and the problems of JSONata expressions."""

import pytest

from onebox.asl.jsonata import Template


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{% $states.input.a %}", {"a": 1}, 1),
        ({"a": ["{% 1 + 1 %}", "plain"]}, None, {"a": [2, "plain"]}),
        ("{% $states.input %}", None, None),
        ("{% $states.input.a %}", {"a": None}, None),
        ("{% [1, null].($) %}", None, [1, None]),
        ("{% $map($states.input, function($v) { $v }) %}", [1, None], [1, None]),
        ("{% $count($states.input) %}", [None, None], 2),
        ("{% $states.input & '!' %}", 'say "no" \\ {% 1 %}', 'say "no" \\ {% 1 %}!'),
        ("{% $states.input[k = 'a'] %}", [{"k": "a"}], {"k": "a"}),
        ("{% [$states.input[k = 'a']] %}", [{"k": "a"}], [{"k": "a"}]),
        ("{% [$states.input[k = 'b']] %}", [{"k": "a"}], []),
        ("{% $states.input %}", [1], [1]),
        ("{% $states.input %}", [[1]], [[1]]),
        ("{% [1..3] %}", None, [1, 2, 3]),
        ("{% 10 / 4 %}", None, 2.5),
        ("{% $append($states.input, 2) %}", [1], [1, 2]),
    ],
)
def test_an_expression_is_replaced_by_its_value(lab, template, value, expected):
    assert lab.evaluate(template, value) == expected


@pytest.mark.parametrize(
    "expression",
    ["$states.input.none", "1 / 0", "$error('no')", "$number('x')", "$nothing", "$sum", "$", "a.b",
     "$toMillis('yesterday')", "function($x) { $x }", "$hash('a', 'CRC')", "$range(1, 2, 0)",
     "$range(1, 1002, 1)", "$partition([1], 0)", "$parse('{')", "$parse('NaN')", "$parse(1)",
     "($f := function($x) { 1 + $f($x) }; $f(1))"],
)  # fmt: skip
def test_an_expression_that_fails_or_returns_nothing_is_a_query_evaluation_error(lab, expression):
    assert lab.evaluate("{% " + expression + " %}") == "States.QueryEvaluationError"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$partition([1..5], 2)", [[1, 2], [3, 4], [5]]),
        ("$range(0, 10, 5)", [0, 5, 10]),
        ("$range(3, 1, -1)", [3, 2, 1]),
        ("$hash('abc', 'MD5')", "900150983cd24fb0d6963f7d28e17f72"),
        ("$hash('abc', 'SHA-1')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("$length($hash('abc', 'SHA-256'))", 64),
        ("$length($hash('abc', 'SHA-384'))", 96),
        ("$length($hash('abc', 'SHA-512'))", 128),
        ("$random(7) = $random(7)", True),
        ("$random() < 1", True),
        ("$match($uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/).index", 0),
        ("$uuid() = $uuid()", False),
        ("$parse('{\"a\": [1, null]}')", {"a": [1, None]}),
        ("[$parse('[null]').($ = null)]", [True]),
    ],
)
def test_the_functions_of_step_functions_are_available(lab, expression, expected):
    assert lab.evaluate("{% " + expression + " %}") == expected


def test_an_expression_cannot_change_its_input(lab):
    value = {"list": []}
    lab.evaluate("{% $append($states.input.list, 1) %}", value)
    assert value == {"list": []}


def test_each_evaluation_is_reported_with_the_variables_of_its_expression(lab):
    states = {
        "A": {"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "B"},
        "B": {"Type": "Pass", "Output": {"z": ["{% $x + 4 / 2 %}"]}, "End": True},
    }
    lab.run(states)
    assert lab.evaluated == [("$x + 4 / 2", {"x": 1}, 3)]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{% 1 +", "must begin with"),
        ("1 %}", "must begin with"),
        (" {% 1 %}", "must begin with"),
        ("{% 1 + %}", "does not parse"),
        ("{%%}", "does not parse"),
        ("{% 'open %}", "does not parse"),
        ("{% $eval('1') %}", "$eval is not available"),
        ("{% $map([1], $eval) %}", "$eval is not available"),
        ("{% $$.a %}", "Step Functions does not have"),
        ([{"a": "{% ) %}"}], "does not parse"),
    ],
)
def test_an_expression_that_cannot_run_is_a_problem(source, problem):
    assert problem in next(Template(source).problems())


def test_a_good_expression_after_a_bad_one_has_no_problem():
    assert list(Template(["{% ( %}", "{% '$eval' & `$$` & $x %}"]).problems())[1:] == []
