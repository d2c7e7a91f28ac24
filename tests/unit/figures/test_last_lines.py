"""The last lines of a log in a sentence."""

from tidemark.figures.task_logs import last_lines


def said(*lines):
    rows = [{"@logStream": "server", "@message": line} for line in reversed(lines)]
    return last_lines([{"@logStream": "another", "@message": "last of all"}, *rows], "server")


def test_the_last_five_lines_of_a_log_are_in_their_order():
    assert said(*"abcdefg") == "; its last lines: c / d / e / f / g"


def test_a_log_without_lines_adds_nothing():
    assert said() == ""


def test_long_lines_are_left_out_before_the_last_one_which_names_the_fault():
    trace = "in a long traceback " * 20

    assert said("first", trace, trace, "KeyError: 'id'") == (
        f"; its last lines: {trace.strip()} / KeyError: 'id'"
    )


def test_a_last_line_that_is_too_long_is_cut_at_its_end():
    lines = said("first", "x" * 600)

    assert lines == f"; its last lines: {'x' * 497}…"
