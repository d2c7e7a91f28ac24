"""The links of the dashboard's page to flame graphs."""

from tidemark.cli.dashboard import flame_links
from tidemark.dashboard.page import _links

OLD, NEW = "20261120T124455Z-0a1b2c", "20261121T124455Z-0a1b2c"


def test_the_page_links_to_the_flame_graphs_of_the_newest_run_of_each_suite(tmp_path):
    for suite, run, file in (
        ("rocksdb", OLD, "functions-ingest-9.8.4-against-9.0.0.html"),
        ("rocksdb", NEW, "functions-compaction-9.8.4+a-against-8.8.1.html"),
        ("rocksdb", NEW, "functions-ingest-9.8.4+a-against-8.8.1.html"),
        ("rocksdb", NEW, "9.8.4+a-against-8.8.1.html"),
        ("sorted", OLD, "report.html"),
    ):
        page = tmp_path / "state" / "reports" / suite / run / file
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()

    links = list(flame_links(tmp_path / "state", tmp_path / "pages"))

    assert [link.words for link in links] == [
        "rocksdb: compaction-9.8.4+a against 8.8.1",
        "rocksdb: ingest-9.8.4+a against 8.8.1",
    ]
    html = _links(links)
    assert f'href="../state/reports/rocksdb/{NEW}/functions-ingest-9.8.4%2Ba-against' in html


def test_a_page_without_flame_graphs_has_no_place_for_them(tmp_path):
    assert _links(list(flame_links(tmp_path, tmp_path))) == ""
