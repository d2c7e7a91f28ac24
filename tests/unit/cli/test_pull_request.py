"""The comment of a pipeline on its pull request, over a server with the API of a forge."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import click
import pytest

from tests.unit.measured_runs import bucket_of, measured, planned
from tidemark.cli.pull_request import comment_on_run, comment_once
from tidemark.model.refusal import Refused
from tidemark.one_machine.stored import InProcessPublisher
from tidemark.report.run_report.publishing import publish_report
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys

GITHUB, GITLAB = "/repos/o/r/issues/7/comments", "/projects/5/merge_requests/7/notes"
MARK = "<!-- tidemark rocksdb -->"


class Forge:
    """The comments of one pull request, as both forges list and change them."""

    ME = 42

    def __init__(self):
        self.comments, self.requests, self.refuses, self.headers = [], [], False, {}
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/user":
                    return self.answer({"id": forge.ME})
                return self.answer(forge.page(urlsplit(self.path).query))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
                known = urlsplit(self.path).path.rsplit("/", 1)[1]
                if known.isdigit():
                    next(each for each in forge.comments if each["id"] == int(known))["body"] = body
                elif not forge.refuses:
                    forge.add(body)
                self.answer({})

            do_PATCH = do_PUT = do_POST  # noqa: N815 (names of BaseHTTPRequestHandler)

            def answer(self, content):
                forge.requests.append((self.command, urlsplit(self.path).path, dict(self.headers)))
                self.send_response(403 if forge.refuses else 200)
                for name, value in forge.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_):
                """Write no log of requests."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def add(self, body, kind="Bot", author=ME):
        number, user = len(self.comments) + 1, {"type": kind, "id": author}
        self.comments.append({"id": number, "body": body, "user": user, "author": user})

    def page(self, query):
        """Return the comments that a query asks for."""
        asked = {name: int(value) for name, (value,) in parse_qs(query).items()}
        first = (asked["page"] - 1) * asked["per_page"]
        return self.comments[first : first + asked["per_page"]]

    @property
    def bodies(self):
        return [each["body"] for each in self.comments]


@contextmanager
def serving(forge):
    """Serve the API of a forge while the context is open."""
    thread = threading.Thread(target=forge.server.serve_forever, args=[0.01])
    thread.start()
    yield forge
    forge.server.shutdown()
    thread.join()
    forge.server.server_close()


@pytest.fixture
def forge():
    with serving(Forge()) as forge:
        yield forge


def set_job(monkeypatch, variables):
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "CI_MERGE_REQUEST_IID", "GITLAB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))


def github(forge, folder, event):
    file = folder / "event.json"
    file.write_text(json.dumps(event))
    return {
        "GITHUB_ACTIONS": "true", "GITHUB_API_URL": forge.url, "GITHUB_REPOSITORY": "o/r",
        "GITHUB_EVENT_PATH": file, "GITHUB_TOKEN": "ghs_secret",
    }  # fmt: skip


@pytest.fixture(params=["github", "gitlab"])
def job(request, forge, tmp_path, monkeypatch):
    """Return the path of the comments of a job of a pull request."""
    if request.param == "github":
        set_job(monkeypatch, github(forge, tmp_path, {"pull_request": {"number": 7}}))
        return GITHUB
    variables = {"CI_API_V4_URL": forge.url, "CI_PROJECT_ID": 5, "CI_MERGE_REQUEST_IID": 7}
    set_job(monkeypatch, {"GITLAB_CI": "true", "GITLAB_TOKEN": "glpat", **variables})
    return GITLAB


def test_the_second_job_of_a_pull_request_updates_the_comment_of_the_first(forge, job):
    for number in range(150):
        forge.add(f"comment {number}", "User")

    assert comment_once("rocksdb", "slower").endswith("is written.")
    assert comment_once("rocksdb", "same").endswith("is updated.")
    assert comment_once("kiwi", "faster").endswith("is written.")

    assert forge.bodies[150:] == [f"{MARK}\nsame", "<!-- tidemark kiwi -->\nfaster"]
    # The second page of 100 comments is the last one.
    assert [each[0] for each in forge.requests if each[1] == job][:3] == ["GET", "GET", "POST"]
    (written, *_), *_ = [[each for each in forge.requests if each[0] == "POST"]]
    assert written[1] == job
    secrets = {written[2].get("Authorization"), written[2].get("PRIVATE-TOKEN")} - {None}
    assert secrets <= {"Bearer ghs_secret", "glpat"}


@pytest.mark.parametrize("token", ["ghs_secret", "ghp_of_a_person"])
def test_a_comment_of_another_person_with_the_mark_stays_as_it_is(forge, job, token, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", token)
    forge.add(f"{MARK}\nfaster", "User", 7)

    comment_once("rocksdb", "slower")
    comment_once("rocksdb", "same")

    assert forge.bodies == [f"{MARK}\nfaster", f"{MARK}\nsame"]


def test_a_long_comment_is_cut_where_the_forge_would_refuse_it(forge, job):
    comment_once("rocksdb", "x" * 70_000)

    assert len(forge.bodies[0]) == 65_000


def test_a_token_without_the_permission_is_one_sentence(forge, job):
    forge.refuses = True

    with pytest.raises(
        click.ClickException, match="answers 403; expected a token that may comment"
    ):
        comment_once("rocksdb", "same")


def test_an_answer_that_breaks_off_is_one_sentence(forge, job):
    forge.headers = {"Content-Length": "10000"}

    with pytest.raises(click.ClickException, match=r"^the comment is not written: IncompleteRead"):
        comment_once("rocksdb", "same")


def test_a_job_without_a_pull_request_writes_no_comment(forge, tmp_path, monkeypatch):
    set_job(monkeypatch, github(forge, tmp_path, {"ref": "refs/heads/main"}))

    assert "has no pull request" in comment_once("rocksdb", "same")
    assert forge.requests == []


OF_GITLAB = {
    "GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_API_V4_URL": "file:///x",
    "CI_PROJECT_ID": "5",
}  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "--pull-request: this is not a job of GitHub Actions or GitLab CI/CD"),
        (OF_GITLAB, "GITLAB_TOKEN: the variable is missing"),
        ({**OF_GITLAB, "GITLAB_TOKEN": "t"}, "the API of the job is file:///x/"),
    ],
)
def test_a_job_that_cannot_comment_is_refused(monkeypatch, variables, sentence):
    set_job(monkeypatch, variables)

    with pytest.raises(Refused, match=sentence):
        comment_once("rocksdb", "same")


@pytest.mark.parametrize("status", ["complete", "incomplete"])
def test_the_comment_of_a_run_has_its_comparisons_or_why_there_are_none(forge, job, status):
    plan = planned(["9.0.0", "9.8.4"])
    bucket = bucket_of(plan, measured(plan))
    outcome = planned_outcome(plan, measured(plan), (), "arn:x", plan.started_at, "", "incomplete")
    outcome = outcome.model_copy(update={"status": status, "reason": "9.8.4 *failed*"})
    bucket.write(keys.outcome(plan.run_id), outcome.model_dump_json().encode())
    publish_report(bucket, plan.run_id)

    comment_on_run(
        SimpleNamespace(bucket=bucket, publisher=InProcessPublisher(bucket)), plan.run_id
    )

    (comment,) = forge.bodies
    title = "9.8.4 against 9.0.0" if status == "complete" else "did not complete"
    assert title in comment
    assert ("9.8.4 \\*failed\\*" in comment) == (status == "incomplete")


def test_a_forge_that_does_not_answer_is_one_sentence(forge, job, monkeypatch):
    for name in ("GITHUB_API_URL", "CI_API_V4_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    with pytest.raises(click.ClickException, match=r"^the comment is not written: .*refused"):
        comment_once("rocksdb", "same")
