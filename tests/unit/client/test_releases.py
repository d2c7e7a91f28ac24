"""The releases of systems, over servers with the APIs of a package index and of a registry."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.plans import rocksdb
from tidemark.client import releases as asked
from tidemark.client.releases import releases
from tidemark.model.refusal import Refused
from tidemark.model.subject import Subject


@pytest.fixture
def server():
    """Yield the URL of a server, the answers that it gets by path, and the tokens that it saw."""
    answers, tokens = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            token = self.headers.get("Authorization")
            tokens.append(token)
            status, content, headers = answers.get(self.path, (404, {}, {}))
            if self.path.startswith("/v2/") and token is None:
                realm = f"http://127.0.0.1:{self.server.server_port}/token"
                service = answers.get("service", "s")
                challenge = (
                    f'Bearer realm="{realm}",service="{service}",scope="repository:o/n:pull"'
                )
                status, content, headers = 401, {}, {"WWW-Authenticate": challenge}
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )

        def log_message(self, *_):
            """Write no log of requests."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, args=[0.01])
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}", answers, tokens
    made.shutdown()
    thread.join()
    made.server_close()


TAGS = "/v2/n/tags/list?n=1000"


def suite_of(**subject):
    return rocksdb().model_copy(
        update={"subject": Subject(**{"form": r"\d+\.\d+\.\d+", **subject})}
    )


def files(*names):
    return [{"filename": name} for name in names]


def test_an_index_has_the_versions_of_all_files_that_are_not_yanked(server):
    url, answers, _ = server
    wheel = "sorted_x-{}-py3-none-any.whl"
    known = files(
        wheel.format("1.2.0"), "sorted_x-1.10.0.tar.gz", wheel.format("1.3.0rc1"), "odd.exe"
    )
    yanked = {"filename": wheel.format("1.4.0"), "yanked": "broken"}
    answers["/simple/sorted-x/"] = 200, {"files": [*known, yanked]}, {}

    found = releases(suite_of(package="sorted-x", versions=["1.1.0"]), f"{url}/simple/")

    assert found == (("1.1.0", "1.2.0", "1.10.0"), ())


def test_a_release_that_the_suite_maps_to_no_version_is_named_and_not_measured(server):
    url, answers, _ = server
    answers["/rocksdict/"] = (
        200,
        {"files": files("rocksdict-0.3.24.tar.gz", "rocksdict-0.3.30.tar.gz")},
        {},
    )
    versions = {"9.7.3": "0.3.24", "9.8.4": ["rocksdict==0.3.29", "numpy==2.0.0"]}

    found = releases(suite_of(package="rocksdict", versions=versions), url)

    assert found == (("9.7.3", "9.8.4"), ("0.3.30",))


def test_a_registry_has_the_tags_of_all_pages_for_the_token_that_it_names(server):
    url, answers, tokens = server
    pages = ["/v2/o/n/tags/list?n=1000", "/v2/o/n/tags/list?n=1000&last=b"]
    answers["/token?service=s&scope=repository:o/n:pull"] = 200, {"token": "t"}, {}
    answers[pages[0]] = 200, {"tags": ["v1.0.0-x", "latest"]}, {"Link": f'<{pages[1]}>; rel="next"'}
    answers[pages[1]] = 200, {"tags": ["v1.2.0-x", "v1.3.0", "v1.4-x"]}, {}
    image = f"{url.removeprefix('http://')}/o/n:v{{version}}-x"

    assert releases(suite_of(image=image, versions=["1.0.0"])).versions == ("1.0.0", "1.2.0")
    assert tokens == [None, None, "Bearer t", "Bearer t"]


@pytest.mark.parametrize(
    ("known", "found"),
    [
        (["12.4"], ("12.4", "12.5", "12.10")),
        (["12.5-alpine", "12.5"], None),
        ({"12": "12.4-alpine"}, ("12",)),
        ([], ("12.4", "12.5", "12.10")),
    ],
)
def test_an_image_has_the_tags_in_the_form_of_the_suites_releases_without_pre_releases(
    server, known, found
):
    url, answers, _ = server
    answers["/token?service=s&scope=repository:o/n:pull"] = 200, {"token": "t"}, {}
    tags = ["12.4", "12.10", "12.5", "12.4-alpine", "12.6rc1", "latest", "12.x"]
    tags += ["12", "20240101"] if known else []
    answers[TAGS] = 200, {"tags": tags}, {}
    image = f"{url.removeprefix('http://')}/n:{{version}}"
    suite = suite_of(image=image, versions=known, form=".*")

    if found is None:
        with pytest.raises(Refused, match=r"^SUITE: the order of .*12\.4-alpine.* is not known$"):
            releases(suite)
    else:
        assert releases(suite) == (found, ())


def test_a_folder_has_the_versions_with_jars(tmp_path):
    for name in ("1.0.0", "1.1.0", "1.2.0"):
        (tmp_path / name).mkdir()
    for name in ("1.0.0", "1.2.0"):
        (tmp_path / name / "a.jar").touch()

    found = releases(suite_of(folder=f"{tmp_path}", advice="build them"))

    assert found == (("1.0.0", "1.2.0"), ())


def test_a_command_of_the_workload_has_the_versions_of_the_suite_alone():
    assert releases(suite_of(prepare=["sh"], versions=["1.1.0", "1.0.0"])).versions == (
        "1.0.0",
        "1.1.0",
    )


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((404, {}, {}), r"/sorted/ answers 404; expected the releases$"),
        ((200, [], {}), r"/sorted/ answers in another form; expected the releases in JSON$"),
        ((200, {"files": [{}]}, {}), r"/sorted/ answers in another form; expected the releases"),
        ((200, b"<html>", {}), r"/sorted/ answers in another form; expected the releases"),
        ((200, b"[" * 100_000, {}), r"/sorted/ answers in another form; expected the releases"),
        ((200, b"{}", {"Transfer-Encoding": "chunked"}), r"/sorted/ does not answer: "),
        ((401, {}, {"WWW-Authenticate": 'Basic realm="x"'}), r"/sorted/ answers 401; expected"),
    ],
)
def test_an_index_without_the_package_or_its_form_is_refused(server, answer, sentence):
    url, answers, _ = server
    answers["/sorted/"] = answer

    with pytest.raises(Refused, match=sentence):
        releases(suite_of(package="sorted", versions=["1.0.0"]), url)


def test_an_answer_without_end_is_refused(server, monkeypatch):
    url, answers, _ = server
    answers["/sorted/"] = 200, {"files": []}, {}
    monkeypatch.setattr(asked, "_MOST_BYTES", 5)

    with pytest.raises(
        Refused, match=r"/sorted/ answers more than \d+ MiB; expected the releases$"
    ):
        releases(suite_of(package="sorted", versions=["1.0.0"]), url)


@pytest.mark.parametrize("status", [200, 404])
def test_an_index_gets_the_user_of_its_url_in_a_header_and_no_message_has_it(server, status):
    url, answers, tokens = server
    answers["/sorted/"] = status, {"files": files("sorted-1.0.0.tar.gz")}, {}
    index, told = url.replace("//", "//me%40x:p%3Aw@"), ""

    try:
        assert releases(suite_of(package="sorted"), index).versions == ("1.0.0",)
    except Refused as refused:
        told = f"{refused}"

    assert tokens == ["Basic bWVAeDpwOnc="]
    assert told == (f"{url}/sorted/ answers 404; expected the releases" if status == 404 else "")


@pytest.mark.parametrize(
    ("token", "tags", "sentence"),
    [
        ((401, {}, {"WWW-Authenticate": 'Basic realm="x"'}), {"tags": []}, "answers 401; expected"),
        ((200, {"token": 5}, {}), {"tags": []}, "answers in another form; expected the releases"),
        ((200, {"token": "t"}, {}), {"name": "n"}, "answers in another form; expected the rel"),
    ],
)
def test_a_registry_or_its_tokens_in_another_form_are_refused(server, token, tags, sentence):
    url, answers, _ = server
    answers["/token?service=Docker+registry&scope=repository:o/n:pull"] = token
    answers[TAGS] = 200, tags, {}
    answers["service"] = "Docker registry"

    with pytest.raises(Refused, match=sentence):
        releases(suite_of(image=f"{url.removeprefix('http://')}/n:{{version}}"))


@pytest.mark.parametrize("index", ["file:///etc/", "http://127.0.0.1:1/", "http://a b/"])
def test_an_index_that_does_not_answer_is_refused(index):
    with pytest.raises(Refused, match=r"^(file|http)://.* (is not accepted|does not answer)"):
        releases(suite_of(package="sorted", versions=["1.0.0"]), index)
