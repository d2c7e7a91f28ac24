"""``make verify-aws``: its consent and its claims; ``make systems`` runs it whole."""

import re
from types import SimpleNamespace

import pytest

from tests.checks.account import __main__ as account
from tests.checks.account.claims import CLAIMS
from tests.checks.account.stacks import CommandFailed
from tidemark.model.checkout import ROOT

PLACE = "123456789012/us-east-1"
NO_OPTIONS = SimpleNamespace(context=[])


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_checked_claim_begins_a_row_of_what_an_account_is_to_confirm(claim):
    page = (ROOT / "docs" / "verified.md").read_text(encoding="utf-8")
    _, to_confirm = page.split("## To be confirmed in an account")
    rows = re.findall(r"^\| (.*?) \|", to_confirm, re.MULTILINE)

    assert len([row for row in rows if row.startswith(claim)]) == 1


@pytest.mark.parametrize(("answer", "is_agreed"), [(PLACE, True), ("yes", False), ("", False)])
def test_only_the_account_and_region_are_an_agreement(answer, is_agreed):
    assert account.agreed(PLACE, answer) is is_agreed


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 1), (CommandFailed("cdk deploy failed"), 1)]
)
def test_everything_is_deleted_after_an_error_and_an_interruption(monkeypatch, error, code):
    removed = endings_of_a_deployment(monkeypatch, error)

    assert account.verified_and_removed(no_service, NO_OPTIONS) == code
    assert removed == [no_service]


def test_everything_is_deleted_after_an_error_that_nobody_expected(monkeypatch):
    removed = endings_of_a_deployment(monkeypatch, ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        account.verified_and_removed(no_service, NO_OPTIONS)
    assert removed == [no_service]


def no_service(_name):
    """Return no client of a service."""


def endings_of_a_deployment(monkeypatch, error):
    """Let a deployment fail; return the list that gets the client of each removal."""
    removed = []

    def fail(*_):
        raise error

    monkeypatch.setattr(account, "ensure_role", lambda _: False)
    monkeypatch.setattr(account.stacks, "deploy", fail)
    monkeypatch.setattr(account.stacks, "remove", lambda client: removed.append(client) or [])
    return removed
