"""Report page of a measured run, made by the deployed asset."""

import json
import re

FILES = ("report.md", "report.html", "report.blocks.json", "advice.json")


def report(deployed, run, file):
    return deployed.stored(f"reports/rocksdb/{run.run_id}/{file}")


def test_the_page_contains_the_script_of_its_charts(deployed, measured):
    page = report(deployed, measured, "report.html")

    assert b"window.vegaEmbed=" in page
    # The script takes 0.9 MB of it.
    assert len(page) < 1_050_000


def test_the_page_draws_the_samples_of_the_tables(deployed, measured):
    page = report(deployed, measured, "report.html").decode()

    specs = re.findall(r'<script type="application/json">(.*?)</script>', page)
    drawn = [
        (point["trial"], point["value"])
        for spec in map(json.loads, specs)
        for layer in spec["layer"]
        if layer["name"] == "samples"
        for point in layer["data"]["values"]
    ]

    recorded = deployed.rows(measured, "task_rates")
    assert sorted(drawn) == sorted((row["trial"], row["value"]) for row in recorded)


def test_a_second_report_is_the_same_byte_for_byte(deployed, measured):
    before = [report(deployed, measured, file) for file in FILES]

    deployed.invoke("PublishReportFunction", {"run_id": measured.run_id})

    assert [report(deployed, measured, file) for file in FILES] == before


def test_the_comparison_of_a_run_equals_a_requested_one(deployed, measured):
    outcome = json.loads(deployed.stored(f"runs/{measured.run_id}/outcome.json"))
    (key,) = outcome["comparisons"]
    before = deployed.stored(key)

    keys = deployed.app.publisher.comparison("rocksdb", "9.0.0", f"{measured.run_id}/9.8.4")

    assert keys["md"] == key
    assert deployed.stored(key) == before
    assert b"# RocksDB: 9.8.4 against 9.0.0\n" in before
    assert b"window.vegaEmbed=" in deployed.stored(keys["html"])
