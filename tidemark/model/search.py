"""The search for the first version that is slower than an older one, as one run."""

from collections.abc import Sequence

from tidemark.model.axes import Axes, count
from tidemark.model.base import Frozen
from tidemark.model.labels import figure_name
from tidemark.model.metric import Metric
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.suite import Suite


class Search(Frozen):
    """The search of a run among versions in ascending order, the base first."""

    metric: str
    versions: tuple[str, ...]

    @property
    def most_comparisons(self) -> int:
        """The most versions that are compared with the base: the newest, then halves of the rest.

        One comparison, and the logarithm to the base 2 of the number of versions after the base.
        """
        return 1 + (len(self.versions) - 2).bit_length()


def follows(search: Search, metric: Metric, statistic: str) -> bool:
    """Tell whether a statistic of a metric is the one that a search follows."""
    return figure_name(metric.name, statistic, "") == search.metric


def between(suite: Suite, base: str, new: str, metric: str, axes: Axes) -> Search:
    """Return the search among the versions that a suite lists from ``base`` to ``new``.

    Raises
    ------
    Refused
        If one of both is not listed or does not follow the other, if their order is not known, if
        the metric does not decide a run, or is not of one test, or if the run measures several
        combinations of axes.

    """
    check_listed("base", base, suite)
    check_listed("new", new, suite)
    _check_order(suite, (base, new))
    versions = _between(suite, base, new)
    if not versions:
        raise Refused(f"bisect.new: {new} does not follow {base}; expected a newer version")
    _check_order(suite, versions)
    _check_metric(suite, metric)
    if count(axes) > 1:
        wanted = listed(name for name, values in axes.items() if len(values) > 1)
        raise Refused(f"axes: a search measures one value of each axis; give one value of {wanted}")
    return Search(metric=metric, versions=versions)


def check_listed(field: str, version: str, suite: Suite) -> None:
    """Refuse a version of the field ``base`` or ``new`` that a suite does not list."""
    if version not in suite.subject.versions:
        known = there_are(suite.subject.versions, version)
        raise Refused(f"bisect.{field}: {suite.name} lists no {shown(version)}; {known}")


def _check_order(suite: Suite, versions: Sequence[str]) -> None:
    if not suite.subject.knows_order(versions):
        raise Refused(
            f"bisect.new: the order of {listed(versions)} is not known, and a search needs it; "
            "compare the versions one by one"
        )


def _between(suite: Suite, base: str, new: str) -> tuple[str, ...]:
    """Return the listed versions from one to another; none if they do not follow each other."""
    order = suite.subject.version_order
    if order(base) > order(new):
        return ()
    return tuple(
        version
        for version in sorted(suite.subject.versions, key=order)
        if order(base) <= order(version) <= order(new)
    )


def _check_metric(suite: Suite, name: str) -> None:
    names = [
        figure_name(metric.name, statistic, "")
        for test in suite.tests
        for metric, statistic in test.figures()
        if metric.decides
    ]
    if name not in names:
        known = there_are(names, name)
        raise Refused(f"bisect.metric: {shown(name)} decides no run of {suite.name}; {known}")
    if names.count(name) > 1:
        sentence = f"several tests of {suite.name} have {name}; expected a metric of one test"
        raise Refused(f"bisect.metric: {sentence}")
