"""``make verify-aws``: its consent and its claims; ``make systems`` runs it whole."""

import re

import pytest

from tests.checks.account.__main__ import agreed
from tests.checks.account.claims import CLAIMS
from tidemark.model.checkout import ROOT

PLACE = "123456789012/us-east-1"


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_checked_claim_begins_a_row_of_what_an_account_is_to_confirm(claim):
    page = (ROOT / "docs" / "verified.md").read_text(encoding="utf-8")
    _, to_confirm = page.split("## To be confirmed in an account")
    rows = re.findall(r"^\| (.*?) \|", to_confirm, re.MULTILINE)

    assert len([row for row in rows if row.startswith(claim)]) == 1


@pytest.mark.parametrize(("answer", "is_agreed"), [(PLACE, True), ("yes", False), ("", False)])
def test_only_the_account_and_region_are_an_agreement(answer, is_agreed):
    assert agreed(PLACE, answer) is is_agreed
