import pytest

from cwli.readers.clocks import field_clock, format_clock
from cwli.readers.likely_times import likely_time


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["02.06.2024 14:26:00 x"], "--time-format '%d.%m.%Y %H:%M:%S'"),
        (["06/02/2024 02:26:00 PM x"], "--time-format '%m/%d/%Y %I:%M:%S %p'"),
        (["02/06/2024 14:26:00", "13/06/2024 14:26:00"], "--time-format '%d/%m/%Y %H:%M:%S'"),
        (["06-02-24 14:26:00", "06-13-24 14:26:00"], "--time-format '%m-%d-%y %H:%M:%S'"),
        (["at 2024-06-02 14:26:00,123 x"], "--time-format '*%Y-%m-%d %H:%M:%S,%f'"),
        (["  02-Jun-2024 14:26 x"], "--time-format ' %d-%b-%Y %H:%M'"),
        (["level=a when=2024-06-02T14:26:00.5+02:00"], "--time-format '*%Y-%m-%dT%H:%M:%S.%f%z'"),
        (["x", "y 14:26:00.123 z"], "--time-format '*%H:%M:%S.%f'"),
        (["[14:26:00 INF] x"], "--time-format %H:%M:%S"),
        (["took 00:01:02, Jun 12, 2024 14:26:00"], "%b %d, %Y %H:%M:%S"),
    ],
)
def test_a_likely_time_in_text_is_named_with_its_format(lines, options):
    assert options in likely_time(lines)
    form = likely_time(lines).split("--time-format ")[1].removesuffix(" reads it").strip("'")
    assert any(map(format_clock(form).fits, lines))


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"n": 1, "published": "2024-06-02T14:26:00Z"}', "--time-field published"),
        ('{"id": 1717338360, "meta": {"sent at": 1717338360123}}', "--time-field 'meta.sent at'"),
        ('{"when": "02.06.2024 14:26"}', "--time-field when --time-format '%d.%m.%Y %H:%M'"),
    ],
)
def test_a_likely_time_in_json_is_named_with_its_field(line, options):
    assert f"and {options} reads it" in likely_time([line])
    name = options.split("--time-field ")[1].split(" --")[0].strip("'")
    form = "%d.%m.%Y %H:%M" if "format" in options else ""
    assert field_clock(name, form).fits(line)


@pytest.mark.parametrize(
    "line", ["x", "", "1:2:3", "version 10.11.12", '{"n": 7, "b": true, "c": null}', "{", "99:99 x"]
)
def test_text_without_a_likely_time_names_none(line):
    assert likely_time([line]) == ""
