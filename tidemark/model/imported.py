"""The origin of figures that others measured and published."""

from datetime import date

from tidemark.model.frozen import Frozen


class Import(Frozen):
    """The place of published figures, and the day of their import."""

    file: str
    """The name of the file without its folder."""
    line: int
    source: str
    """The place where the file is published, as the user names it, '' without a name."""
    imported_on: date

    @property
    def text(self) -> str:
        """The origin for a table: ``system-tests.md line 48, imported 2026-11-23``."""
        published = f" of {self.source}" if self.source else ""
        return f"{self.file}{published}, line {self.line}, imported {self.imported_on}"
