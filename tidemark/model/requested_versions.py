"""The versions of a run: as requested, or the newest, or builds that nobody released."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean, listed, shown, there_are
from tidemark.model.suite import Suite
from tidemark.model.version_order import DEPLOYED, NEWEST, PREVIOUS, latest

Released = Callable[[Suite], Iterable[str]]
"""Returns the versions of a suite that ``newest`` and ``previous`` are taken from."""
Reported = Callable[[Suite, str], str | None]
"""Returns the version that an instance of a suite reports, by the id of the instance; None where
nobody can ask the instance."""


def requested_versions(
    requested: Sequence[str],
    baseline: str | None,
    builds: Mapping[str, str],
    suite: Suite,
    released: Released,
) -> tuple[tuple[str, ...], str | None]:
    """Return the versions of a run and its baseline, without ``newest`` and ``previous``.

    ``builds`` has the wheel of each version that is not a release.

    Raises
    ------
    Refused
        If a version is unknown or is given twice, or a build or the baseline is not measured.

    """
    latest_versions = _latest_versions(requested, suite, released)
    versions = tuple(latest_versions.get(version, version) for version in requested)
    baseline = latest_versions.get(baseline or "", baseline)
    _check_builds(builds, versions, suite)
    for version in versions:
        if version not in builds:
            check_version(version, "versions", suite)
    words = [word for word in (NEWEST, PREVIOUS) if word in requested]
    _check_once(versions, {word: latest_versions[word] for word in words})
    if baseline is not None and baseline not in versions:
        raise Refused(
            f"baseline: {shown(baseline)} is not measured in this run; "
            f"expected one of {listed(versions)}"
        )
    return versions, baseline


def instance_version(
    requested: Sequence[str], instance: str, suite: Suite, reported: Reported
) -> str:
    """Return the version of an instance, which the input of a run may name.

    It is ``deployed`` if nobody can ask the instance and the input names none.

    Raises
    ------
    Refused
        If the instance reports another version, or one without the form of the suite.

    """
    if len(requested) > 1:
        there_is = f"{listed(requested)} are not accepted, since an instance has one version"
        raise Refused(f"versions: {there_is}; name none of them")
    (wanted,) = requested
    if wanted != DEPLOYED:
        check_version(wanted, "versions", suite)
    version = reported(suite, instance)
    if version is None:
        return wanted
    check_version(version, "instance", suite)
    if wanted not in (DEPLOYED, version):
        raise Refused(
            f"versions: {wanted} is not accepted, since {instance} reports {version}; expected "
            f"{version} or no version"
        )
    return version


def _check_builds(builds: Mapping[str, str], versions: Sequence[str], suite: Suite) -> None:
    subject = suite.subject
    if builds and subject.package is None and subject.folder is None:
        raise Refused(
            f"builds: the subject of {suite.name} has no builds; expected a package or a folder"
        )
    for version, url in builds.items():
        if ("/#" in url) != (subject.folder is not None):
            expected = "a wheel" if subject.package else "a folder"
            raise Refused(f"builds.{version}: {shown(url)} is not accepted; expected {expected}")
        if version not in versions:
            raise Refused(f"builds: {version} is not measured; {there_are(versions, version)}")
        if "+" not in version or version in subject.versions:
            raise Refused(
                f"builds: {version} is the name of a release; expected a name such as "
                "1.4.0+1a2b3c4d, which the suite does not list"
            )


def _check_once(versions: Sequence[str], by_word: Mapping[str, str]) -> None:
    """Refuse a repeated version; ``by_word`` has the versions of ``newest`` and ``previous``."""
    for version in versions:
        if versions.count(version) > 1:
            words = [f", {word} is {version}" for word, last in by_word.items() if last == version]
            raise Refused(
                f"versions: {version} is given twice{''.join(words)}; name each version once, or "
                "measure one beside itself with `tidemark calibrate`"
            )


def _latest_versions(requested: Sequence[str], suite: Suite, released: Released) -> dict[str, str]:
    """Return the versions of ``newest`` and ``previous``, empty if none of them is requested."""
    words = [word for word in (NEWEST, PREVIOUS) if word in requested]
    if not words:
        return {}
    by_word = latest(released(suite), packaged=suite.subject.is_packaged)
    for word in words:
        if word not in by_word:
            only = f"{listed(by_word.values())} is the only one" if by_word else "none is listed"
            raise Refused(f"versions: {suite.title} has no {word} version; {only}")
        if not suite.subject.has(by_word[word]):
            raise Refused(
                f"versions: the {word} version of {suite.title} is {shown(by_word[word])}, which "
                f"its suite does not have; there are {listed(suite.subject.versions)}"
            )
    return by_word


def check_version(version: str, field: str, suite: Suite) -> None:
    """Refuse a version that a suite does not have; ``field`` is its place in the input."""
    title, subject = suite.title, suite.subject
    if not subject.has_form(version):
        form = next(reversed(subject.versions), subject.form)
        near = did_you_mean(version, (NEWEST, PREVIOUS))
        sentence = f"{shown(version)} is not a version of {title}; expected the form of {form}"
        raise Refused(f"{field}: {sentence}{near}")
    if not subject.has(version):
        known = there_are(subject.versions, version)
        raise Refused(f"{field}: {version} has no release in the suite of {title}; {known}")
    if misfit := subject.misfit_of_tag(version):
        raise Refused(f"{field}: {misfit}")
