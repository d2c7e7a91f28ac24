"""``tidemark query --lint`` over sources of infrastructure and folders."""

import pytest
from click.testing import CliRunner

from cwli.command import command
from cwli.program import Refused
from cwli.sources.infrastructure import queries_at

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
\t\t"Properties": {"QueryString": {"Fn::Join": ["", [{"Ref": "Rest"}, " | limit 1"]]}}
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


NOT_CHECKED = "this query is computed, and not checked\nwarning: not checked: 1 of 1 query\n"
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
    assert done.stderr == f"{warning}warning: not checked: 1 of 3 queries\n"


@pytest.mark.parametrize(
    "value",
    ["'limit 1' + end", "'limit %d' % 1", "f'limit {end}'", "'limit {}'.format(1)", "text(1)"],
)
@pytest.mark.parametrize(
    "argument", ["query_string={}", "query_lines=[{}]", "query_lines=['a'] + {}"]
)
def test_a_query_with_a_value_that_is_not_literal_is_computed(lint, argument, value):
    path, done = lint("stack.py", f"import aws_cdk.aws_logs\nQuery({argument.format(value)})\n")
    assert (done.stdout, done.stderr) == ("", f"warning: {path}:2: {NOT_CHECKED}")


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
        ("each.value", f"main.tf:4: {NOT_CHECKED}"),
        ('file("none")', f"main.tf:4: {NOT_CHECKED}"),
        ("local.none", f"main.tf:4: {NOT_CHECKED}"),
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
    warning = f"warning: {path}:4: this query is computed, and not checked\n"
    assert done.stderr == f"{warning}warning: not checked: 1 of 3 queries\n"


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
        ("values.yaml", "a: 1", "this holds no queries; expected files that end in .cwli, .yaml"),
        ("service.py", "query_string = 'a=b'", "this holds no queries"),
        ("bad.yaml", "QueryString: [", "this is not valid YAML or JSON: "),
    ],
)
def test_a_source_without_queries_is_refused(lint, name, text, sentence):
    path, done = lint(name, text)
    assert isinstance(done.exception, Refused)
    assert str(done.exception).startswith(f"{path}: {sentence}")


RESOLVED = {
    "joined.yaml": (
        "Q:\n  Type: AWS::Logs::QueryDefinition\n  Properties:\n    QueryString:\n"
        "      Fn::Join: ['\n\n', [limit 1, '| filtre x']]\n",
        5,
    ),
    "short.yaml": (PROPERTIES + "!Join ['', [\"filter a = '\", !Ref A, \"' | filtre x\"]]\n", 4),
    "sub.yaml": (
        PROPERTIES + "!Sub\n      - |\n        limit 1\n        | ${C} x\n      - C: filtre\n",
        7,
    ),
    "long.json": (
        '{"Q": {"Type": "AWS::Logs::QueryDefinition", "Properties": {"QueryString":\n'
        '{"Fn::Sub": ["filter a = \'${A}\' | ${C} x", {"C": "filtre", "A": {"Ref": "B"}}]}}}}',
        2,
    ),
    "board.json": (
        '{"B": {"Type": "AWS::CloudWatch::Dashboard", "Properties": {"DashboardBody":\n'
        r'{"Fn::Join": ["", ["{\"widgets\": [{\"properties\": {\"region\": \"",'
        r' {"Ref": "AWS::Region"}, "\", \"query\": \"limit 1 | filtre x\"}}]}"]]}}}}',
        2,
    ),
    "a.tf.json": (
        '{"resource": {"aws_cloudwatch_query_definition": {"a":\n'
        r'{"query_string": "limit 1\n| filtre x"}}}}',
        2,
    ),
    "insert.tf": (
        'locals {\n  word = "filtre"\n  stage = "| ${local.word} x"\n}\n'
        f'{ARGUMENT}"limit 1 ${{local.stage}}"\n}}\n',
        8,
    ),
    "join.tf": (
        'locals {\n  word = "filtre"\n}\n'
        f'{ARGUMENT}join("\\n| ", ["limit 1", "${{local.word}} x"])\n}}\n',
        7,
    ),
    "names.tf": (
        'locals {\n  stage = "filtre x"\n}\n'
        f'{ARGUMENT}join(" | ", [\n  "limit 1",\n  local.stage,\n])\n}}\n',
        7,
    ),
    "trim.tf": (f"{ARGUMENT}trimspace(<<-EOF\n  limit 1\n  | filtre x\nEOF\n)\n}}\n", 6),
    "module.tf": (
        'module "a" {\n  source = "../modules/query-definition"\n'
        '  query_string = "limit 1 | filtre x"\n}\n'
        'module "b" {\n  source = "../site"\n  query_string = "false"\n}\n',
        3,
    ),
    "construct.ts": (
        "import { aws_logs as logs } from 'aws-cdk-lib';\n"
        "new logs.QueryDefinition(this, 'Q', {\n  queryString: new logs.QueryString({\n"
        "    fields: ['@timestamp', '@message'],\n    filterStatements: ['a = 1', 'filtre ]x'],\n"
        "  }),\n});\n",
        3,
    ),
    "passed.ts": (
        "import * as logs from 'aws-cdk-lib';\nconst queryString = new logs.QueryString({\n"
        "  limit: 20, stats: 'count(* by x', parse: '',\n});\n"
        "new logs.QueryDefinition(this, 'Q', { queryString, queryDefinitionName: 'q' });\n",
        2,
    ),
    "constant.ts": (
        "// aws-logs\nconst QUERY = 'limit 1' +\n  ' | filtre x';\n"
        "new CfnQueryDefinition(this, 'Q', { name: 'a', queryString: QUERY });\n",
        2,
    ),
    "template.ts": (
        "// aws-logs\nconst word = 'filtre';\n"
        "new CfnQueryDefinition(this, 'Q', { queryString: `limit 1 | ${word} x` });\n",
        3,
    ),
    "join.mjs": (
        "// aws-logs\nnew CfnQueryDefinition(this, 'Q', { queryString: [\n'limit 1', 'filtre x',\n"
        "].join('\\n| ') });\n",
        2,
    ),
    "construct.py": (
        "from aws_cdk import aws_logs as logs\nlogs.QueryDefinition(\n    self, 'Q',\n"
        "    query_string=logs.QueryString(\n        fields=['@message'],\n"
        "        filter_statements=[\n            'a = 1',\n            'filtre ]x',\n        ],\n"
        "        limit=20,\n    ),\n)\n",
        4,
    ),
    "constant.py": (
        'import aws_cdk.aws_logs\nQUERY = """\\\nlimit 1\n| filtre x\n"""\n'
        "CfnQueryDefinition(self, 'Q', query_string=QUERY)\n",
        4,
    ),
    "sum.py": (
        "import aws_cdk.aws_logs\nCfnQueryDefinition(self, 'Q', query_string=(\n"
        "  'limit 1 '\n  '| filtre x'))\n",
        3,
    ),
    "join.py": (
        "import aws_cdk.aws_logs\n"
        "CfnQueryDefinition(self, query_string=' | '.join(['limit 1', 'filtre x']))\n",
        2,
    ),
    "f.py": (
        "import aws_cdk.aws_logs\nword = 'filtre'\n"
        "Q(query_string=f\"filter a like '{name}' | {word} x\")\n",
        3,
    ),
}


@pytest.mark.parametrize("name", RESOLVED)
def test_a_query_of_literals_is_resolved_and_checked(lint, name):
    text, line = RESOLVED[name]
    path, done = lint(name, text)
    assert isinstance(done.exception, Refused), done.output
    assert str(done.exception).startswith(f"{path}:{line}: "), done.exception
    assert (done.stdout, done.stderr) == ("", "")


def test_a_query_string_has_the_lines_that_the_cdk_writes(lint):
    properties = (
        "display: 'a', limit: 5, sort: 'a desc', statsStatements: ['count(*) by a', 'count(*)'], "
        "stats: 'x', filter: 'a = 1', parse: '@message \"*\" as a', fields: ['a', 'b']"
    )
    path, _ = lint("a.ts", f"// aws-logs\nnew QueryString({{ {properties} }});\n")
    assert [query.text for query in queries_at(path)] == [
        'fields a, b\n| parse @message "*" as a\n| filter a = 1\n| stats count(*) by a\n'
        "| stats count(*)\n| sort a desc\n| limit 5\n| display a"
    ]


_BOARD = 'resource "aws_cloudwatch_dashboard" "a" {\n  dashboard_body = '
COMPUTED = {
    "a.yaml": "Q:\n  Type: AWS::Logs::QueryDefinition\n  Properties: !Include q.yaml\n",
    "b.yaml": PROPERTIES + "!If [A, limit 1, limit 2]\n",
    "c.yaml": PROPERTIES + "!Join ['', ['limit ', !Ref N]]\n",
    "d.json": (
        '{"B": {"Type": "AWS::CloudWatch::Dashboard", '
        '"Properties": {"DashboardBody": {"Ref": "A"}}}}'
    ),
    "e.tf": f'{ARGUMENT}format("limit %d", 1)\n}}\n',
    "f.tf": f'{ARGUMENT}"${{var.query}}"\n}}\n',
    "g.tf": f'{ARGUMENT}join("|", [for a in local.b : a])\n}}\n',
    "h.tf": f"{_BOARD}local.body\n}}\n",
    "i.tf": f"{_BOARD}jsonencode({{ widgets = concat(a, b) }})\n}}\n",
    "j.tf": f'{_BOARD}file("none.json")\n}}\n',
    "k.ts": "// aws-logs\nnew logs.QueryString({ ...properties });\n",
    "l.ts": "// aws-logs\nnew logs.QueryString(properties);\n",
    "m.ts": "// aws-logs\nnew logs.QueryDefinition(this, 'Q', properties);\n",
    "n.ts": "// aws-logs\nnew logs.QueryDefinition(this, 'Q', { queryString });\n",
    "o.ts": "// aws-logs\nnew logs.QueryDefinition(this, 'Q', { queryString: made(1) });\n",
    "p.ts": "// aws-logs\nnew logs.QueryString({ limit: 1, sort: order });\n",
    "q.ts": (
        "// aws-logs\nlet q = 'limit 1'; { const q = 'limit 3'; new Q({ queryString: q }); }\n"
    ),
    "r.py": "import aws_cdk.aws_logs\nlogs.QueryString(**properties)\n",
    "s.py": "import aws_cdk.aws_logs\nlogs.QueryString(limit=limit)\n",
    "t.py": "import aws_cdk.aws_logs\nLogQueryWidget(**properties)\n",
    "u.py": "import aws_cdk.aws_logs\nprint 'QueryString('\n",
    "v.py": "import aws_cdk.aws_logs\nq = 'limit 1'\nq = 'limit 2'\nQ(query_string=q)\n",
    "w.py": "import aws_cdk.aws_logs\nQ = Q + 'limit 1'\nF(query_string=Q)\n",
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_query_that_is_not_literal_is_counted_and_refused_if_strict(lint, name):
    path, done = lint(name, COMPUTED[name])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(f": {NOT_CHECKED}")
    strict = CliRunner().invoke(command, ["--lint", "--strict", str(path)])
    assert strict.exit_code == 1
    assert strict.output.endswith("--strict accepts no query that is computed, and not checked\n")


def test_the_first_twenty_that_are_not_checked_are_named(tmp_path):
    text = "import aws_cdk.aws_logs\n" + "QueryString(limit=n)\n" * 25
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.cwli").write_text("limit 1")
    (tmp_path / "C.java").write_text('QueryDefinition.Builder.create(this, "Q")\n')
    done = CliRunner().invoke(command, ["--lint", str(tmp_path)])
    lines = done.stderr.splitlines()
    assert lines[0] == f"warning: {tmp_path}/C.java:1: this query is computed, and not checked"
    assert len(lines) == 21
    assert lines[-1] == "warning: not checked: 26 of 27 queries"


def growing(first, line, last):
    """Return a file with the last of four values; each inserts ten of the value before."""
    values = (line(f"a{each}", f"a{each - 1}") for each in range(1, 5))
    return "\n".join([first, *values, last("a4")])


GROWING = {
    "a.tf": growing(
        'locals {\n  a0 = "0123456789"',
        lambda name, before: f'  {name} = "{f"${{local.{before}}}" * 10}"',
        lambda name: f'}}\n{ARGUMENT}"${{local.{name}}}"\n}}',
    ),
    "join.tf": growing(
        'locals {\n  a0 = "0123456789"',
        lambda name, before: f'  {name} = "{f"${{local.{before}}}" * 10}"',
        lambda name: f'}}\n{ARGUMENT}join("", [local.{name}, local.{name}])\n}}',
    ),
    "a.py": growing(
        'from aws_cdk import aws_logs\na0 = "0123456789"',
        lambda name, before: f'{name} = f"{f"{{{before}}}" * 10}"',
        lambda name: f"CfnQueryDefinition(query_string={name})",
    ),
    "template.ts": growing(
        "import 'aws-cdk-lib/aws-logs';\nconst a0 = '0123456789';",
        lambda name, before: f"const {name} = `{f'${{{before}}}' * 10}`;",
        lambda name: f"new CfnQueryDefinition(this, 'A', {{ queryString: {name} }});",
    ),
}


@pytest.mark.parametrize("name", GROWING)
def test_values_that_grow_longer_than_a_query_are_computed(tmp_path, name):
    path = tmp_path / name
    path.write_text(GROWING[name])
    (found,) = queries_at(path)
    assert found.text is None
