"""The table of attacks in the documentation."""

from tests.system.attacks.acts import page, table
from tidemark.model.checkout import ROOT


def test_the_page_on_security_has_the_table_of_all_attacks():
    assert table() in page(ROOT).read_text(encoding="utf-8")
