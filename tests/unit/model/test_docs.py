import re

import pytest

from tests.checks.docs import PAGES, SUITES, generated, table
from tidemark.cli import COMMANDS
from tidemark.model.checkout import ROOT
from tidemark.model.request import ResumeRequest, RunRequest

TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKS = [
    (path, link)
    for path in TEXTS
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    if not link.startswith("https://")
]


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_the_tables_of_its_models(page):
    text = page.read_text(encoding="utf-8")

    assert text == generated(text, PAGES[page], defaults=page.parent == SUITES), (
        "python -m tests.checks.docs writes the tables"
    )


@pytest.mark.parametrize("model", [RunRequest, ResumeRequest])
def test_a_table_names_the_limits_of_its_fields(model):
    _, _, *rows = table(model).splitlines()

    fields = model.model_json_schema()["properties"].values()
    for field, row in zip(fields, rows, strict=True):
        numbers = re.findall(r"\d+", row.replace(",", ""))
        for limits in field.get("anyOf", [field]):
            for name in limits.keys() & {"maximum", "maxItems", "maxLength"}:
                assert str(limits[name]) in numbers


def test_the_readme_lists_every_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `tidemark (\w+)` \|", text, re.MULTILINE)) == set(COMMANDS)


@pytest.mark.parametrize(("page", "link"), LINKS, ids=lambda part: getattr(part, "name", part))
def test_a_link_leads_to_a_file_and_a_heading(page, link):
    name, _, heading = link.partition("#")
    target = page.parent / name if name else page

    assert target.exists()
    assert not heading or heading in anchors(target)


def test_the_proofs_of_the_security_page_are_there():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    tests = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("packages/*/tests/**/test_*.py")]
    paths = [path.as_posix() for path in tests]

    named = set(re.findall(r"`([\w/]*test_\w+\.py)`", page))
    assert named
    assert {each for each in named if not any(path.endswith(f"/{each}") for path in paths)} == set()
