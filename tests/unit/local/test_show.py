"""A report on a terminal's other end."""

from local.commands.show import plain


def test_a_report_that_is_read_as_text_has_no_backslashes_but_those_of_its_tables():
    text = r"| Started \[UTC\] | a \| b \_c\_ \\d |"

    assert plain(text) == r"| Started [UTC] | a \| b _c_ \d |"
