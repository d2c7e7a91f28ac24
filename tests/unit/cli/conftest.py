"""The suites of the checkout, which each command reads and no test changes."""

import pytest

from tidemark.model import suite_files
from tidemark.model.checkout import ROOT


@pytest.fixture(autouse=True, scope="package")
def suites_of_checkout():
    """Read the suites of the checkout once; those of other folders are read again."""
    read, known = suite_files.read_suites, suite_files.read_suites()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            suite_files,
            "read_suites",
            lambda systems=ROOT: dict(known) if systems == ROOT else read(systems),
        )
        yield
