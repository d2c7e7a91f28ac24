"""A report that is printed as text."""

from tidemark.cli.show import plain


def test_a_report_as_text_has_only_the_backslashes_of_its_tables():
    text = r"| Started \[UTC\] | a \| b \_c\_ \\d |"

    assert plain(text) == r"| Started [UTC] | a \| b _c_ \d |"
