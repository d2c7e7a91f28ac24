"""`tidemark dashboard`: the file that it writes, and the address that it serves."""

import threading
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from click.testing import CliRunner

from local.commands import dashboard
from local.dashboard import building
from local.dashboard.serving import PageServer
from suites.refusal import Refused
from tests.local.twelve_versions import Tables, stored_history


@pytest.fixture
def dashboard_command(monkeypatch, tmp_path):
    """Run the command over a history in memory, and give what it said."""

    @contextmanager
    def tables(_):
        yield Tables(stored_history())

    monkeypatch.setattr(dashboard, "deployed_tables", tables)
    monkeypatch.setattr(building, "vega", lambda: "window.vegaEmbed = () => {};")

    def run(*words):
        words = ["--state", str(tmp_path / "state"), *words]
        return CliRunner().invoke(dashboard.command, words, catch_exceptions=False).output

    return run


@pytest.fixture
def server():
    with PageServer("<p>“page”</p>", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def answered(server, path="/", host=None):
    """Return status and body of a request."""
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_the_page_is_in_the_state_folder_if_nothing_else_is_said(dashboard_command, tmp_path):
    assert dashboard_command() == f"{tmp_path / 'state' / 'dashboard.html'}\n"
    assert (tmp_path / "state" / "dashboard.html").read_text().startswith("<!DOCTYPE html>")


def test_the_page_takes_the_place_of_the_one_before_and_leaves_nothing_else(
    dashboard_command, tmp_path
):
    page = tmp_path / "page.html"
    page.write_text("before")

    dashboard_command("--output", str(page))

    assert page.read_text().endswith("</html>\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--output", "/nowhere/page.html"], "--output: there is no folder /nowhere"),
        (["--port", "8888"], "--port: 8888 is a port to serve the page at; it goes with --serve"),
    ],
)
def test_what_is_refused_before_anything_is_asked(dashboard_command, words, sentence):
    with pytest.raises(Refused, match=sentence):
        dashboard_command(*words)


def test_a_page_that_cannot_be_written_is_one_sentence(dashboard_command):
    with pytest.raises(Refused, match=r"/proc/page\.html cannot be written: "):
        dashboard_command("--output", "/proc/page.html")


def test_what_is_served_ends_with_ctrl_c(dashboard_command, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", interrupted)

    said = dashboard_command("--serve")

    assert "The dashboard is at http://127.0.0.1:" in said
    assert said.endswith("Ended.\n")


def test_a_port_that_is_taken_is_one_sentence(dashboard_command, server):
    with pytest.raises(Refused, match=f"--port: {server.server_port} cannot be had: Address alr"):
        dashboard_command("--serve", "--port", str(server.server_port))


def test_a_server_has_the_page_and_nothing_else(server):
    assert answered(server) == (200, "<p>“page”</p>")
    assert answered(server, "/etc/passwd")[0] == 404


def test_a_server_answers_this_machine_by_its_own_names_only(server):
    assert answered(server, host=f"localhost:{server.server_port}")[0] == 200
    assert answered(server, host="elsewhere.example")[0] == 421
    assert server.server_address[0] == "127.0.0.1"
