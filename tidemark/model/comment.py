"""What people say of a run or of a comparison, with the figures that they quote.

A quoted figure has a form that is checked, ``{{change ingest_rate of 9.8.4 = −3.1 %}}``: each
report compares it with the figures of its time.
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from html import unescape
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from tidemark.model.base import Consistent, Frozen
from tidemark.model.refusal import Problem, Refused, problem
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import ONE_LINE, shown
from tidemark.model.version_order import VERSION

LONGEST_COMMENT, MOST_IMAGES, LARGEST_IMAGE = 16_000, 10, 2_000_000
"""The limits of a comment: characters of its text, images, and bytes of an image."""
IMAGES: Mapping[str, str] = {
    ".gif": "image/gif", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".png": "image/png",
    ".svg": "image/svg+xml", ".webp": "image/webp",
}  # fmt: skip
"""The media types of images by the end of their names."""
IMAGE = r"[0-9a-f]{12}-[A-Za-z0-9._-]{1,80}"
"""The name of a stored image: a part of the digest of its content, and its own name."""

FIELD = re.compile(r"\{\{((?:[^{}]|\{[^{}]*\})*)\}\}")
"""A field of a text, ``{{change latency {operation: create} of 12.4 = −3.1 %}}``."""
WHAT = ("mean", "change", "verdict")
"""What a field tells of a metric of a version."""
_QUOTE = re.compile(rf"(?P<what>{'|'.join(WHAT)}) (?P<subject>.+) = (?P<value>.+)")
QUOTED = "{{mean METRIC of VERSION = VALUE}}, or change or verdict in place of mean"
"""The accepted form of a quoted figure in words."""
_NUMBER = re.compile(
    r"(?P<sign>[-+−–]?)(?P<digits>\d[\d,]*)(?P<places>\.\d+)?\s*(?P<prefix>[kMG](?!\w))?\s*(?P<unit>.*)"
)
_POWERS = {"": 0, "k": 3, "M": 6, "G": 9}

_Line = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_LINE)]
# What a renderer of CommonMark writes without HTML of the author. Everything else is refused: a
# page shows the text of a comment as it is stored.
_TAG = re.compile(
    r"</?(?:p|ul|ol|li|em|strong|s|code|pre|blockquote|h[1-6]|table|thead|tbody|tr|th|td)>"
    r'|<ol start="\d+">|<(?:br|hr) />|<code class="language-[\w+#.-]+">'
    r'|<t[hd] style="text-align:(?:left|right|center)">'
    r'|<a href="(?:https?://|mailto:)[^"<>\s]*"(?: title="[^"<>]*")?>|</a>'
    rf'|<img src="{IMAGE}" alt="[^"<>]*"(?: title="[^"<>]*")? />'
)


def media_type(name: str) -> str:
    """Return the media type of an image by the end of its name."""
    return IMAGES[f".{name.rpartition('.')[2].lower()}"]


class CommentedBase(Frozen):
    """The base of a comparison that somebody comments on."""

    run_id: str = Field(pattern=f"^{RUN_ID}$")
    version: str = Field(pattern=f"^{VERSION}$")


class Comment(Consistent):
    """What somebody says of a run, or of the comparison of one of its versions with a base."""

    title: _Line
    author: _Line
    day: date
    text: str = Field(min_length=1, max_length=LONGEST_COMMENT)
    """Markdown, in which images have the names of ``images``."""
    html: str
    """The text as HTML, without any tag, address or attribute that Markdown does not make."""
    images: Mapping[Annotated[str, Field(pattern=f"^{IMAGE}$")], str] = {}
    """The images in base64, by name."""
    version: str | None = Field(default=None, pattern=f"^{VERSION}$")
    """The version that is compared, None for a comment on the whole run."""
    base: CommentedBase | None = None

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit each other."""
        if (rest := _TAG.sub("", self.html)) and re.search("[<>]", rest):
            yield problem(("html",), "html has more than Markdown makes")
        if [*_fields(self.text)] != [*_fields(unescape(self.html))]:
            yield problem(("text",), "text has a quoted figure within the address of a link")
        if (self.version is None) != (self.base is None):
            yield problem((), "version and base go together")

    @property
    def quotes(self) -> "list[Quote]":
        """The figures that the text quotes.

        Raises
        ------
        Refused
            If a field has another form.

        """
        return [quote(field) for field in _fields(self.text)]

    def is_of(self, base: tuple[str, str], version: str) -> bool:
        """Tell whether the comment is on the comparison of a version with a run's base."""
        return self.base is not None and (self.base.run_id, self.base.version, self.version) == (
            *base,
            version,
        )


def _fields(text: str) -> Iterator[str]:
    return (plain_field(found) for found in FIELD.findall(text))


def plain_field(field: str) -> str:
    """Return the content of a field on one line."""
    return " ".join(field.split())


class Quote(NamedTuple):
    """A quoted figure."""

    what: Literal["mean", "change", "verdict"]
    subject: str
    """The metric and the version, such as ``ingest_rate of 9.8.4``."""
    value: str

    def holds(self, figure: float | str | None, of_figure: str) -> bool:
        """Tell whether a figure has the quoted value, in the digits that are quoted.

        A mean may be quoted without its unit ``of_figure``. A change is a share: 0.1 is 10 %.
        """
        if figure is None or isinstance(figure, str):
            return self.value == figure
        found = _NUMBER.fullmatch(self.value)
        if found is None:
            return False
        unit = found["unit"]
        if self.what == "mean" and unit.strip() not in ("", of_figure):
            return False
        if self.what == "change":
            if not unit.startswith(("%", "times")):
                return False
            figure = 100 * figure if unit.startswith("%") else 1 + figure
        places = found["places"] or ""
        scale = 10 ** _POWERS[found["prefix"] or ""]
        number = float(found["digits"].replace(",", "") + places) * scale
        if found["sign"] in ("-", "−", "–"):
            number = -number
        half = scale / 10 ** len(places[1:]) / 2
        # Half of the last digit may be rounded up or down.
        return abs(number - figure) <= half or math.isclose(abs(number - figure), half)


def quote(field: str) -> Quote:
    """Return the quoted figure of a field.

    Raises
    ------
    Refused
        If the field has another form.

    """
    found = _QUOTE.fullmatch(field)
    if found is None:
        raise Refused(f"{shown(field)} is not a quoted figure; expected {QUOTED}")
    return Quote(*found.groups())  # type: ignore[arg-type]  # the pattern has three groups
