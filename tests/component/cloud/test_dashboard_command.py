"""`tidemark dashboard`: the file that it writes, and the page that it serves."""

import threading
from contextlib import contextmanager
from functools import cache
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.component.cloud.twelve_versions import Tables, stored_history
from tidemark.cli import dashboard
from tidemark.cli.dashboard import PageServer
from tidemark.model.refusal import Refused


@pytest.fixture(scope="module")
def tables():
    """Return tables that answer each statement once for all commands."""
    ask = cache(Tables(stored_history()).ask)
    return SimpleNamespace(ask=lambda statement, given=(): ask(statement, tuple(given)))


@pytest.fixture
def dashboard_command(monkeypatch, tmp_path, tables):
    """Return a way to run the command over a history in memory; it returns the output."""

    @contextmanager
    def stored(_):
        yield SimpleNamespace(tables=tables, damaged=())

    monkeypatch.setattr(dashboard, "stored", stored)

    def run(*words):
        words = ["--state", str(tmp_path / "state"), *words]
        return CliRunner().invoke(dashboard.command, words, catch_exceptions=False).output

    return run


@pytest.fixture
def server():
    with PageServer("<p>“page”</p>") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server, path=None, host=None):
    """Return the status and the body of an answer."""
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request(
        "GET", server.path if path is None else path, headers={"Host": host} if host else {}
    )
    answer = connection.getresponse()
    result = answer.status, answer.read().decode()
    connection.close()
    return result


def test_the_page_is_in_the_state_folder_by_default(dashboard_command, tmp_path):
    assert dashboard_command() == f"{tmp_path / 'state' / 'dashboard.html'}\n"
    assert (tmp_path / "state" / "dashboard.html").read_text().startswith("<!DOCTYPE html>")


def test_the_page_replaces_the_previous_page(dashboard_command, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("before")

    dashboard_command("--output", str(page))

    assert page.read_text().endswith("</html>\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_page_in_a_folder_that_is_missing_is_refused(dashboard_command):
    with pytest.raises(Refused, match="--output: there is no folder /nowhere"):
        dashboard_command("--output", "/nowhere/page.html")


def test_the_error_of_an_unwritable_page_is_one_sentence(dashboard_command):
    with pytest.raises(Refused, match=r"/proc/page\.html cannot be written: "):
        dashboard_command("--output", "/proc/page.html")


def test_ctrl_c_ends_the_server(dashboard_command, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", interrupted)

    output = dashboard_command("--serve")

    assert "The dashboard is at http://127.0.0.1:" in output
    assert output.endswith("Ended.\n")


def test_a_server_serves_only_the_page(server):
    assert get(server) == (200, "<p>“page”</p>")
    for path in ("/", "/etc/passwd", server.path[:-2], f"{server.path}x", "/%C3%A9"):
        assert get(server, path)[0] == 404


def test_the_address_of_each_server_is_a_secret(server):
    with PageServer("") as other:
        assert len(server.path) > 20
        assert other.path != server.path


def test_a_server_answers_only_to_names_of_this_machine(server):
    assert get(server, host=f"localhost:{server.server_port}")[0] == 200
    assert get(server, host="elsewhere.example")[0] == 421
    assert server.server_address[0] == "127.0.0.1"
