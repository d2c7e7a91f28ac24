"""``tidemark query --lint`` over sources of infrastructure and folders."""

import pytest
from click.testing import CliRunner

from tidemark.cli.query import command
from tidemark.model.refusal import Refused

TEMPLATE = """\
Resources:
  Slow:
    Type: AWS::Logs::QueryDefinition
    Properties:
      QueryString: |
        fields @message
        | filtre x
  Count:
    Type: AWS::Logs::QueryDefinition
    Properties: {QueryString: "stats count(*)"}
  Group:
    Type: AWS::Logs::QueryDefinition
    Properties:
      QueryString: !Sub "SOURCE '${Logs}' | ${Rest}"
"""
SYNTHESISED = """\
{
\t"Slow": {
\t\t"Type": "AWS::Logs::QueryDefinition",
\t\t"Properties": {"QueryString": "filtre x\\n| limit 1"}
\t},
\t"Count": {
\t\t"Type": "AWS::Logs::QueryDefinition",
\t\t"Properties": {"QueryString": "stats count(*)\\n| limit 1"}
\t},
\t"Group": {
\t\t"Type": "AWS::Logs::QueryDefinition",
\t\t"Properties": {"QueryString": {"Fn::Join": ["", []]}}
\t},
\t"Table": {"Type": "AWS::Athena::NamedQuery", "Properties": {"QueryString": "SELECT 1"}},
\t"Site": {"Type": "AWS::CloudFront::Distribution", "ForwardedValues": {"QueryString": false}}
}
"""
TERRAFORM = """\
resource "aws_cloudwatch_query_definition" "slow" {
  query_string = <<-EOF
    fields @message
    | filtre x
  EOF
}
resource "aws_cloudwatch_query_definition" "count" {
  query_string = "stats count(*) by strcontains(@message, \\"a\\")"
}
resource "aws_cloudwatch_query_definition" "group" {
  query_string = join("|", local.parts)
}
resource "aws_cloudfront_distribution" "site" {
  forwarded_values { query_string = "false" }
}
"""
TYPESCRIPT = r"""
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
new CfnQueryDefinition(this, 'Slow', { queryString: `fields @message
| filtre x` });
new LogQueryWidget({ queryLines: ['filter @message like /\\\\d/', "stats count(*)"] });
new LogQueryWidget({ queryString: text });
function show(queryString: string) {}
"""
PYTHON = r'''
from aws_cdk import aws_logs
CfnQueryDefinition(self, "Slow", query_string="""fields @message
| filtre x
""")
CfnQueryDefinition(self, "Count", query_string=r'filter @message like /\d/ | stats count(*)')
CfnQueryDefinition(self, "Group", query_string=text)
'''


WIDGETS = (
    '{"widgets": [{"type": "text", "properties": {"markdown": "a query: x"}},\n'
    '  {"type": "log", "properties": {"query": "SOURCE \'/${Name}/a\'\\n| filtre x"}},\n'
    '  {"type": "log", "properties": {"query": "SOURCE \'a\' | filter @message like /${Word}/"}},\n'
    '  {"type": "log", "properties": {"query": "SOURCE \'a\' | ${Rest}"}}]}\n'
)
DASHBOARD = f"""\
Board:
  Type: AWS::CloudWatch::Dashboard
  Properties:
    DashboardBody: !Sub |
      {WIDGETS.replace("  {", "        {")}
"""
BOARDS = f"""\
resource "aws_cloudwatch_dashboard" "a" {{
  dashboard_body = <<EOF
{WIDGETS}EOF
}}
resource "aws_other" "b" {{
  query = "filtre x"
}}
"""
ENCODED = """\
resource "aws_cloudwatch_dashboard" "a" {
  dashboard_body = jsonencode({ widgets = [
    { type = "log", properties = { query = "SOURCE '/${var.name}/a' | filtre x" } },
    { type = "log", properties = { query = "SOURCE 'a' | filter @message like /${var.b}/" } },
    { type = "log", properties = { query = "${local.source} | limit 1" } }
  ]})
}
"""


@pytest.fixture
def lint(tmp_path):
    def check(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path, CliRunner().invoke(command, ["--lint", str(path)])

    return check


@pytest.mark.parametrize(
    ("name", "text", "wrong", "right", "computed"),
    [
        ("template.yaml", TEMPLATE, 7, 10, 14),
        ("stack.template.json", SYNTHESISED, 4, 8, 12),
        ("queries.tf", TERRAFORM, 4, 8, 11),
        ("dashboard.yaml", DASHBOARD, 6, 7, 8),
        ("dashboard.tf", BOARDS, 4, 5, 6),
        ("encoded.tf", ENCODED, 3, 4, 5),
        ("stack.ts", TYPESCRIPT, 4, 5, 6),
        ("stack.py", PYTHON, 4, 6, 7),
    ],
)
def test_the_queries_in_a_source_are_checked_at_their_lines(
    lint, name, text, wrong, right, computed
):
    path, done = lint(name, text)
    assert isinstance(done.exception, Refused)
    (error, _, caret) = str(done.exception).splitlines()
    assert error.startswith(f"{path}:{wrong}: unknown command 'filtre'")
    assert caret.strip() == "^"
    assert done.stdout == f"{path}:{right}: accepted\n"
    warning = f"warning: {path}:{computed}: this query is computed, and not checked\n"
    assert done.stderr == warning


@pytest.mark.parametrize(
    "value",
    [
        "'limit 1' '| filtre x'",
        "'limit 1'\n    '| filtre x'",
        "'limit 1' + end",
        '"""limit 1""" + """| filtre x"""',
        "'limit %d' % 1",
    ],
)
@pytest.mark.parametrize(
    "argument", ["query_string={}", "query_lines=[{}]", "query_lines=['a'] + {}"]
)
def test_a_query_of_several_literals_is_computed(lint, argument, value):
    path, done = lint("stack.py", f"import aws_cdk.aws_logs\nQuery({argument.format(value)})\n")
    warning = f"warning: {path}:2: this query is computed, and not checked\n"
    assert (done.stdout, done.stderr) == ("", warning)


@pytest.mark.parametrize("quotes", ["'", '"', "'''", '"""'])
@pytest.mark.parametrize("end", [")", "\n)", ", name='a')", ",\n)"])
def test_a_literal_of_python_is_a_query(lint, quotes, end):
    text = f"aws_logs.CfnQueryDefinition(query_string={quotes}filtre x{quotes}{end}\n"
    path, done = lint("stack.py", f"# aws_logs\n{text}")
    assert str(done.exception).startswith(f"{path}:2: unknown command 'filtre'")


PROPERTIES = "Q:\n  Type: AWS::Logs::QueryDefinition\n  Properties:\n    QueryString: "
ARGUMENT = 'resource "aws_cloudwatch_query_definition" "a" {\n\n\n  query_string = '


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", PROPERTIES + '"limit 1\\n\\n| filtre x"', 4),
        ("a.yaml", PROPERTIES + ">\n      limit 1\n\n      | filtre x\n", 5),
        ("a.yaml", PROPERTIES + "|\n      limit 1\n\n      | filtre x\n", 7),
        ("a.tf", ARGUMENT + '"limit 1\\n\\n| filtre x"', 4),
        ("a.tf", ARGUMENT + "<<EOF\nlimit 1\n\n| filtre x\nEOF\n", 7),
        ("a.py", "aws_logs\nquery_string='limit 1\\n\\n| filtre x'", 2),
        ("a.py", 'aws_logs\nquery_string="""limit 1\n\n| filtre x"""', 4),
        ("a.py", 'aws_logs\nquery_string="""\\\nlimit 1\n| filtre x"""', 4),
        ("a.ts", "aws-logs\nqueryString: `limit 1\n\n| filtre x`", 4),
        ("a.ts", "aws-logs\nqueryLines: ['limit 1', 'limit 1', 'filtre x']", 2),
    ],
)
def test_an_error_is_at_a_line_of_the_file(lint, name, text, line):
    path, done = lint(name, text)
    assert str(done.exception).startswith(f"{path}:{line}: unknown command 'filtre'")


def test_the_queries_below_a_folder_are_checked(tmp_path):
    (tmp_path / "a.cwli").write_text("limit 1")
    (tmp_path / "b").mkdir()
    definition = 'resource "aws_cloudwatch_query_definition" "c" { query_string = "limit 2" }'
    (tmp_path / "b" / "c.tf").write_text(definition)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "d.cwli").write_text("filtre")
    done = CliRunner().invoke(command, ["--lint", str(tmp_path), "stats count(*)"])
    assert done.stdout == (
        f"{tmp_path / 'a.cwli'}:1: accepted\n{tmp_path / 'b' / 'c.tf'}:1: accepted\n"
        "query: accepted\n"
    )


LOCALS = """\
locals {
  slow = <<-EOT
    fields @message
    | filtre x
  EOT
  queries = {
    count = { query = "stats count(*)" }
  }
}
variable "slow" { slow = "filtre y" }
"""


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("local.slow", "locals.tf:4: unknown command 'filtre'"),
        ('file("${path.module}/q/slow.sql")', "q/slow.sql:2: unknown command 'filtre'"),
        ('templatefile("q/slow.sql", { a = 1 })', "q/slow.sql:2: unknown command 'filtre'"),
    ],
)
def test_a_query_that_terraform_names_is_checked_at_its_place(tmp_path, value, place):
    (tmp_path / "locals.tf").write_text(LOCALS)
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "slow.sql").write_text("fields @message\n| filtre '${a}'\n")
    main = tmp_path / "main.tf"
    main.write_text(f"{ARGUMENT}{value}\n}}\n" * 2)
    done = CliRunner().invoke(command, ["--lint", str(main)])
    errors = str(done.exception).splitlines()
    assert [error for error in errors if "unknown" in error] == [errors[0]]
    assert errors[0].startswith(f"{tmp_path}/{place}")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("value", "ending"),
    [
        ("local.queries.count.query", "locals.tf:7: accepted\n"),
        ("each.value.query", "locals.tf:7: accepted\n"),
        ('local.queries["count"].query', "locals.tf:7: accepted\n"),
        ("each.value", "main.tf:4: this query is computed, and not checked\n"),
        ('file("none")', "main.tf:4: this query is computed, and not checked\n"),
        ("local.none", "main.tf:4: this query is computed, and not checked\n"),
    ],
)
def test_a_member_of_a_local_is_checked_and_another_value_is_named(tmp_path, value, ending):
    (tmp_path / "locals.tf").write_text(LOCALS)
    main = tmp_path / "main.tf"
    main.write_text(f"{ARGUMENT}{value}\n}}\n")
    done = CliRunner().invoke(command, ["--lint", str(main)])
    assert done.output.endswith(ending)


@pytest.mark.parametrize("name", ["board.tpl", "board.json.tftpl", "board.json"])
def test_the_widgets_of_a_template_of_terraform_are_checked(lint, name):
    path, done = lint(name, WIDGETS)
    assert str(done.exception).startswith(f"{path}:2: unknown command 'filtre'")
    assert done.stdout == f"{path}:3: accepted\n"
    assert done.stderr == f"warning: {path}:4: this query is computed, and not checked\n"


def test_a_dashboard_that_terraform_names_is_checked_once(tmp_path):
    (tmp_path / "board.tpl").write_text(WIDGETS)
    resource = 'resource "aws_cloudwatch_dashboard" "a" {\n  dashboard_body = '
    (tmp_path / "main.tf").write_text(f'{resource}templatefile("board.tpl", {{}})\n}}\n')
    done = CliRunner().invoke(command, ["--lint", str(tmp_path / "main.tf")])
    assert done.stdout == f"{tmp_path / 'board.tpl'}:3: accepted\n"
    both = CliRunner().invoke(command, ["--lint", str(tmp_path)])
    assert (both.stdout, str(both.exception)) == (done.stdout, str(done.exception))


@pytest.mark.parametrize("text", ["stats count(*) by payload.json", f"limit 1 # {'x' * 1_000}"])
def test_a_text_that_is_no_path_is_a_query(text):
    done = CliRunner().invoke(command, ["--lint", text])
    assert (done.exit_code, done.stdout) == (0, "accepted\n"), done.output


def test_a_folder_within_a_hidden_one_holds_queries(tmp_path, monkeypatch):
    folder = tmp_path / ".hidden"
    folder.mkdir()
    (folder / "a.cwli").write_text("limit 1")
    (folder / "b").mkdir()
    monkeypatch.chdir(folder / "b")
    done = CliRunner().invoke(command, ["--lint", ".."])
    assert done.stdout == "../a.cwli:1: accepted\n"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "values.yaml",
            "a: 1",
            "this holds no queries; expected files that end in .cwli, .yaml",
        ),
        ("service.py", "query_string = 'a=b'", "this holds no queries"),
        ("bad.yaml", "QueryString: [", "this is no valid YAML or JSON: "),
    ],
)
def test_a_source_without_queries_is_refused(lint, name, text, sentence):
    path, done = lint(name, text)
    assert isinstance(done.exception, Refused)
    assert str(done.exception).startswith(f"{path}: {sentence}")
