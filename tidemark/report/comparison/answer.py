"""The answer of a comparison in one line, which everything else explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set

from tidemark.model.numerals import change
from tidemark.report.comparison.results import why_incomparable
from tidemark.report.comparison.setup import unlike_work
from tidemark.report.comparison.sides import Pair, Sides
from tidemark.report.marks import FAILURES, answers
from tidemark.report.run_report import trials


def answer(sides: Sides, pairs: Sequence[Pair]) -> str:
    """Return the metrics of each verdict, slower ones first, with the sizes of changes.

    The trials that failed follow the changes. The reason of a missing verdict stands behind the
    metrics that share it. A further sentence says what was not alike.
    """
    names: defaultdict[str, list[str]] = defaultdict(list)
    reasons: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        names[pair.word].append(f"{pair.name}{_size(pair)}")
        reasons[pair.word].add(_reason(pair, sides))
    failures = _failures(sides)
    told = {
        word: f"{text}{_why(reasons[word] - failures.keys())}"
        for word, text in answers(names).items()
    }
    changed = {pair.word for pair in pairs if pair.is_change}
    changes = [told.pop(word) for word in [*told] if word in changed]
    found = [*changes, *failures.values(), *told.values()]
    first = f"{'; '.join(found) or 'There is no metric to compare'}."
    return " ".join((first, *_unlike(sides)))


def _reason(pair: Pair, sides: Sides) -> str:
    verdict = pair.verdict
    return verdict.judgement.reason if verdict else why_incomparable(pair, sides)


def _why(reasons: Set[str]) -> str:
    """Return the reason of all metrics of a verdict, '' if they have several or none."""
    reason = next(iter(reasons)) if len(reasons) == 1 else ""
    return f" ({reason})" if reason else ""


def _failures(sides: Sides) -> dict[str, str]:
    """Return the trials that failed, by the reason that they are for a missing verdict."""
    failures = {}
    for side in sides.both:
        if failed := trials.failed(side.run):
            word, count = failed
            failures[f"{count} of {side.name} {word}"] = f"{FAILURES[word]}: {count} of {side.name}"
    return failures


def _unlike(sides: Sides) -> Iterator[str]:
    if unlike := unlike_work(sides):
        more = f", and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        yield f"The two sides were not measured alike: {unlike[0]}{more}."


def _size(pair: Pair) -> str:
    return f" ({change(pair.effect, pair.metric, pair.places)})" if pair.is_change else ""
