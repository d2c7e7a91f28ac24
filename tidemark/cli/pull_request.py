"""The comment of a pipeline on its pull request or merge request: one a suite, which it updates.

Sources: GitHub REST API, "Issue comments"; GitLab REST API, "Notes"; the predefined variables of
jobs in GitHub Actions and GitLab CI/CD.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import click

from tidemark.client.deployed import Stored
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.report.blocks import Report, brief
from tidemark.report.files import load
from tidemark.report.markdown import markdown
from tidemark.store.keys import BLOCKS
from tidemark.store.run_ends import find_outcome
from tidemark.store.stored_plan import find_plan

_SECONDS = 30
_PAGE, _MOST_PAGES = 100, 50
# GitHub takes 65,536 characters.
_LONGEST = 65_000
# The token of a job belongs to an app, whose comments are a bot's.
_OF_APP = "ghs_"


class _Forge(NamedTuple):
    """Where the comments of one pull request are."""

    comments: str
    """The URL that lists them, and that takes a new one."""
    comment: str
    """The URL of a comment, without its id."""
    changing: str
    """The method that changes a comment."""
    headers: Mapping[str, str]
    author: str
    """The field of a comment that has its author."""
    user: str
    """The URL of the token's user, '' for the token of an app: that one writes as a bot."""


def check_job() -> None:
    """Refuse a process that is not a job of a pipeline, or lacks its token."""
    _forge(os.environ)


def comparison_of_run(stored: Stored, plan: Plan, base: str, version: str) -> Mapping[str, str]:
    """Write the comparison of two versions of a run; return the key of each of its forms."""
    sides = [f"{plan.run_id}/{each}" for each in (base, version)]
    return stored.publisher.comparison(plan.suite.name, *sides)


def comment_on_run(stored: Stored, run_id: str) -> str:
    """Comment with the comparisons of a run, or why there are none; return what was done."""
    plan, outcome = find_plan(stored.bucket, run_id), find_outcome(stored.bucket, run_id)
    if plan is None or outcome is None:
        return "The run has no outcome, so that no comment is written."
    if outcome.status == "complete":
        keys = (comparison_of_run(stored, plan, base, new) for new, base in plan.bases.items())
        reports = [brief(load(stored.bucket.read(each[BLOCKS]))) for each in keys]
    else:
        title = f"{plan.suite.title}: run {run_id} did not complete"
        reports = [Report(title, (outcome.reason,), ())]
    return comment_once(plan.suite.name, "\n\n".join(map(markdown, reports)))


def comment_once(suite: str, markdown: str) -> str:
    """Write the comment of a suite on the job's pull request, or update it; return what was done.

    Anybody may write a comment that begins as this one, so that the author of the comment to update
    has to be the token's user, or a bot if the token is an app's.

    Raises
    ------
    Refused
        Outside of a job of GitHub Actions or GitLab CI/CD, or without its token.
    ClickException
        If the comment is not accepted.

    """
    forge = _forge(os.environ)
    if forge is None:
        return "The job has no pull request, so that no comment is written."
    mark = f"<!-- tidemark {suite} -->"
    text = json.dumps({"body": f"{mark}\n{markdown}"[:_LONGEST]}).encode()
    try:
        me = _asked(forge, forge.user, "GET", None)["id"] if forge.user else None
        for known in _comments(forge):
            if str(known["body"]).startswith(mark) and _is_own(known[forge.author] or {}, me):
                _asked(forge, f"{forge.comment}{known['id']}", forge.changing, text)
                return "The comment on the pull request is updated."
        _asked(forge, forge.comments, "POST", text)
    except HTTPError as error:
        raise click.ClickException(
            f"the comment is not written: {error.url} answers {error.code}; expected a token that "
            "may comment on pull requests"
        ) from None
    except (OSError, HTTPException, json.JSONDecodeError) as error:
        raise click.ClickException(f"the comment is not written: {error}") from None
    return "The comment on the pull request is written."


def _forge(variables: Mapping[str, str]) -> _Forge | None:
    """Return where the comments of a job are; None if the job has no pull request."""
    if variables.get("GITHUB_ACTIONS"):
        return _github(variables)
    if variables.get("GITLAB_CI"):
        return _gitlab(variables)
    raise Refused(
        "--pull-request: this is not a job of GitHub Actions or GitLab CI/CD; `tidemark compare` "
        "prints Markdown for any other"
    )


def _github(variables: Mapping[str, str]) -> _Forge | None:
    event = json.loads(Path(variables["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = event.get("pull_request", {}).get("number")
    if number is None:
        return None
    token = _token(variables, "GITHUB_TOKEN")
    issues = f"{variables['GITHUB_API_URL']}/repos/{variables['GITHUB_REPOSITORY']}/issues"
    return _Forge(
        comments=f"{issues}/{number}/comments",
        comment=f"{issues}/comments/",
        changing="PATCH",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        author="user",
        user="" if token.startswith(_OF_APP) else f"{variables['GITHUB_API_URL']}/user",
    )


def _gitlab(variables: Mapping[str, str]) -> _Forge | None:
    number = variables.get("CI_MERGE_REQUEST_IID")
    if number is None:
        return None
    api = variables["CI_API_V4_URL"]
    notes = f"{api}/projects/{variables['CI_PROJECT_ID']}/merge_requests/{number}/notes"
    token = _token(variables, "GITLAB_TOKEN")
    return _Forge(notes, f"{notes}/", "PUT", {"PRIVATE-TOKEN": token}, "author", f"{api}/user")


def _token(variables: Mapping[str, str], name: str) -> str:
    if not variables.get(name):
        raise Refused(f"{name}: the variable is missing; expected a token that may comment")
    return variables[name]


def _comments(forge: _Forge) -> Iterator[Mapping[str, Any]]:
    for number in range(1, _MOST_PAGES + 1):
        page = _asked(forge, f"{forge.comments}?per_page={_PAGE}&page={number}", "GET", None)
        yield from page
        if len(page) < _PAGE:
            return


def _is_own(author: Mapping[str, Any], me: int | None) -> bool:
    return author.get("type") == "Bot" if me is None else author.get("id") == me


def _asked(forge: _Forge, url: str, method: str, body: bytes | None) -> Any:  # noqa: ANN401
    if not url.startswith(("https://", "http://")):
        raise Refused(f"the API of the job is {url}; expected an address that begins with https://")
    request = Request(url, body, {"Content-Type": "application/json"}, method=method)  # noqa: S310
    for name, value in forge.headers.items():
        # A redirect leads elsewhere, where the token must not go.
        request.add_unredirected_header(name, value)
    with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
        return json.load(answer)
