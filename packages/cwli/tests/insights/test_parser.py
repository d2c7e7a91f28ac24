from contextlib import suppress
from pathlib import Path

import pytest

from cwli import insights
from cwli.insights import QueryError, run
from cwli.insights.commands import COMMANDS, REFUSED
from cwli.insights.functions import FUNCTIONS


def failure(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        insights.compile(query)
    return caught.value


# Typical queries: AWS documentation, CloudWatch Logs Insights query syntax, and samples.
@pytest.mark.parametrize(
    "query",
    [
        "fields @timestamp, @message",
        "| fields @timestamp |",
        "FIELDS @message | Filter @message LIKE 'a' | STATS COUNT(*) AS n BY @logStream",
        "# a comment\nfields @message # and another | with | pipes\n| limit 1",
        "where @message not like /a|b/ and not (@message =~ /c/)",
        "filter @message == '200' or @message in ['a', 1, -2.5] and @message not in [\"b\"]",
        "parse '*: *' as key, value | fields key",
        r"parse @message /Duration: (?<ms>\S+)/ | stats avg(ms), max(ms) by bin(30s)",
        "parse @message '*' as max | stats max(max) as max | sort by max desc",
        "stats count(*) group by @logStream",
        "stats count() by bin(5m) | sort bin(5m) asc, `count()` desc",
        "parse @message '*' as `odd name` | display `odd name`",
        "stats max(strlen(@message)) as most, min(strlen(@message)) as least, most - least",
        "stats sum(@message like 'a') / count(*) * 100 by @log, @logStream as stream",
        "fields 1 / 2 / strlen(@message) as ratio | filter ratio > .5",
        "filter @message like /[/|#]/ # a slash in brackets does not end a regular expression",
        "filter @message like 'it\\'s # no comment' | fields @message as m",
        "fields bin(5minutes), datefloor(@timestamp, 2hrs), dateceil(@timestamp, 1d), now()",
        "dedup @logStream | limit 5",
    ],
)
def test_typical_queries_are_accepted(query):
    assert insights.compile(query).columns


@pytest.mark.parametrize(
    ("query", "line", "column", "message"),
    [
        ("", 1, 1, "the query is empty; write commands separated by |"),
        ("# only a comment", 1, 1, "the query is empty; write commands"),
        ("fields @message\n| patern @message", 2, 3, "unknown command 'patern'; did you mean"),
        ("fields @message | frobnicate", 1, 19, "unknown command 'frobnicate'; supported: fields,"),
        ("level = 40", 1, 1, "unknown command 'level'; write filter level = …"),
        ("filtr like /x/", 1, 1, "unknown command 'filtr'; did you mean 'filter'?"),
        ("search not x", 1, 1, "write filter @message like 'part' to find a text"),
        ("filter a = 1 b = 2", 1, 14, "expected '|' and the next command"),
        ("name not like 'x'", 1, 1, "unknown command 'name'; write filter name not …"),
        ("fields a | count(*)", 1, 12, "unknown command 'count'; write stats count(…)"),
        ("strlen(a)", 1, 1, "unknown command 'strlen'; write fields strlen(…)"),
        ("filter @message !~ /x/", 1, 17, "unknown operator '!~'; write field not like /a+/"),
        ("fields @timestamp @message", 1, 19, "expected ',' between fields, '|' and the next com"),
        ("stats by level", 1, 7, "expected an aggregate such as count(*) before the groups, found"),
        ("pattern @message | diff previousHour", 1, 25, "expected previousday or previousweek"),
        ("SELEC @message", 1, 1, "unknown command 'SELEC'; write fields a, b to show fields, or"),
        ("stats count(*) by a having n > 1", 1, 21, "'having'; write filter after stats to select"),
        ("SOURCE", 1, 7, "expected a text in quotes"),
        ("SOURCE 'g' START=-3600s END=0s | limit 1", 1, 12,
         "this is the form in which the console"),
        ('SOURCE logGroups(namePrefix: [], class: "STANDARD") | limit 1', 1, 18,
         "this is the form"),
        ('SOURCE logGroups(class: "STANDARD") | limit 1', 1, 18, "this is the form in which the"),
        ("stats count(*) by bin($__interval)", 1, 23, "$__interval is a variable of a dashboard"),
        ("filter a = '${b}' or a = ${b:raw}", 1, 26, "${b:raw} is a variable of a dashboard"),
        ("parse @message '* x' as host-name", 1, 29, "a name with '-' is written in backticks"),
        ("statz count(*)", 1, 1, "unknown command 'statz'; did you mean 'stats'?"),
        ("SOURCE dataSource(['a'])", 1, 8, "dataSource is not supported; supported: logGroups(…)"),
        ("SOURCE logGroups(names: ['a'])", 1, 18, "'names' is not supported in logGroups"),
        ("SOURCE logGroups(class: ['INFREQUENT_ACCESS'])", 1, 18, "class must be ['STANDARD'] on"),
        ("SOURCE logGroups(namePrefix: 'a')", 1, 30, "expected a list of texts"),
        ("limit 1 | logcompare", 1, 11, "logcompare is not supported: it compares patterns"),
        ("anomaly", 1, 1, "anomaly is not supported: AWS does not publish its model"),
        ("filterIndex a > 1", 1, 13, "filterIndex takes a field with = or in"),
        ("fields @message | | limit 1", 1, 19, "expected a command, found '|'"),
        ("filter a = 1 && b = 2", 1, 14, "unknown operator '&&'; write a = 1 and b = 2"),
        ("filter a = 1 || b = 2", 1, 14, "unknown operator '||'; write a = 1 or b = 2"),
        ("filter @message like /error/i", 1, 29, "/(?i)a/ ignores case"),
        ("-- a comment", 1, 1, "a comment begins with #"),
        ("fields a // a comment", 1, 11, "a comment begins with #"),
        ('fields headers."user-agent"', 1, 16, "characters in backticks: `user-agent`"),
        ("stats countif(a = 1)", 1, 7, "unknown function 'countif'; write sum(a = 1)"),
        ("filter a > date_sub(now(), 1h)", 1, 12, "unknown function 'date_sub'; write toMillis("),
        ("stats values(a) by b", 1, 7, "unknown function 'values'; write count_distinct(field)"),
        ("fields strpos(a, 'b')", 1, 8, "unknown function 'strpos'; write strcontains(field"),
        ("stats sum(case when a = 1 then 1 end)", 1, 16, "unknown operator 'when'; write case("),
        ("stats cnt(*)", 1, 7, "unknown function 'cnt'; did you mean 'count'?"),
        ("stats frobnicate(a)", 1, 7, "unknown function 'frobnicate'; did you mean"),
        ("stats x7(a)", 1, 7, "unknown function 'x7'; supported: avg, sum"),
        ("parse @message http://a* as b", 1, 16, "expected a glob in quotes"),
        ("fields", 1, 7, "expected a field, a number, a text in quotes or a function"),
        ("fields @message,, a", 1, 17, "expected a field"),
        ("fields @message as", 1, 19, "expected a name"),
        ("fields @message as 'm'", 1, 20, "expected a name, found \"'m'\""),
        ("fields @message limit 1", 1, 17, "'|' is missing before the command 'limit'"),
        ("filter @message like 'open", 1, 22, "this text is not closed by '"),
        ("fields `open", 1, 8, "this name in backticks is not closed by `"),
        ("filter @message like /open", 1, 22, "expected a regular expression between slashes"),
        ("filter @message like other", 1, 22, "expected a text in quotes or a /regular"),
        ("filter @message =~ text", 1, 20, "expected a text in quotes or a /regular expression/ a"),
        ("filter @message <> 1", 1, 17, "unknown operator '<>'; write a != b"),
        ("filter errorCode exists", 1, 18, "unknown operator 'exists'; write ispresent(field)"),
        ("filter errorCode IS NULL", 1, 18,
         "unknown operator 'is'; write not ispresent(field) for"),
        ("filter @timestamp > '2024-01-01'", 1, 21,
         ">: a time is compared with milliseconds since"),
        ("filter '2024' != '2' and 'x' = bin(1d)", 1, 26,
         "=: a time is compared with milliseconds"),
        ("filter a in ('b', 'c')", 1, 14, "expected a subquery (write a list in brackets"),
        ("filter @message not 1", 1, 21, "expected 'like' or 'in' after 'not'"),
        ("filter @message in (fields a", 1, 29, "expected '|' and the next command, or ')'"),
        ("fields a[x]", 1, 10, "expected the place of an element, from 0"),
        ("filter @message in 1", 1, 20, "expected a list such as [1, 2]"),
        ("filter @message in [@log]", 1, 21, "expected a number or a text in quotes"),
        ("filter @message in [1", 1, 22, "expected ',' or ']'"),
        ("filter (@message = 1", 1, 21, "expected ')'"),
        ("filter @message = http://x", 1, 23, "write a text with ':' in quotes"),
        ("filter @message = “x”", 1, 19, "unexpected character '“'; write texts in straight"),
        ("limit 20;", 1, 9, "unexpected character ';'; remove it"),
        ("filter a ? b", 1, 10, "unexpected character '?'"),
        ("filter /error/", 1, 8, "write a regular expression after like, =~ or parse, as in"),
        ("fields *", 1, 8, "there is no * for all fields; @message holds the whole event"),
        ("filter a startswith 'b'", 1, 10, "unknown operator 'startswith'; write startsWith(field"),
        ("stats p99.9(a)", 1, 7, "unknown function 'p99.9'; write pct(field, 99.9)"),
        ("filter a = 5x", 1, 12, "'5x' is neither a number nor a period; units: ms, s, m"),
        ("limit 1e2", 1, 7, "expected a whole number of rows"),
        ("fields 1e999", 1, 8, "this number is larger than a double holds"),
        ("source = logs | head 5", 1, 1, "source = … is OpenSearch PPL; in Logs Insights QL wri"),
        ("fields '\0'", 1, 9, "unexpected character '\\x00'"),
        ("fields '\ud800'", 1, 9, "unexpected character '\\ud800'"),
        ("parse @message", 1, 15, "expected a glob in quotes or a /regular expression/"),
        ("parse @message xml as a", 1, 16, "expected a glob in quotes"),
        ("parse @message logfmt as a, b", 1, 16, "logfmt takes one name, the name of a map"),
        ("autoregress a p=2-1", 1, 13, "p takes a number or a range such as 1-4"),
        ("json 'a' as b", 1, 6, "expected 'field'"),
        ("addtotals column=true a", 1, 11,
         "option 'column' is unknown; known: fieldname, row, col"),
        ("addtotals col=true col=true a", 1, 20, "the option 'col' is given twice"),
        ("addtotals col=yes a", 1, 15, "expected true or false, found 'yes'"),
        ("addtotals row=false a", 1, 1, "addtotals with row=false needs col=true"),
        ("outlier action=drop a", 1, 16, "expected remove or transform, found 'drop'"),
        ("outlier param=3", 1, 16, "expected a name"),
        ("outlier param=a b", 1, 15, "expected a number"),
        ("sessionize a maxspan 2w", 1, 22, "maxspan takes days or shorter"),
        ("stats count(*) by a offset 1h", 1, 28, "offset needs stats with a key bin(…)"),
        ("stats count(*) by bin(1h) offset 1mo", 1, 34, "offset takes days or shorter"),
        ("stats rate(a, 1w)", 1, 15, "rate: the period must be of days or shorter"),
        ("stats histogram(a, 1.5)", 1, 20, "the number of ranges must be whole, from 1 to 100"),
        ("addtotals", 1, 1, "addtotals finds no fields in the result so far"),
        ("unnest a as b", 1, 10, "expected 'into'"),
        ("join type=full left=a right=b", 1, 11, "expected inner or left, found 'full'"),
        ("join left=a right=a where a.x=a.x (limit 1)", 1, 1, "join takes two names: left=a"),
        ("join left=a right=b where x=b.x (limit 1)", 1, 27, "expected a field of a: a.x"),
        ("join left=a right=b where b.x=a.x (limit 1)", 1, 27, "expected a field of a: a.b.x"),
        ("join left=a right=b where a.x=b.x", 1, 34, "expected '(' and a subquery"),
        ("join left=a right=b where a.x=b.x (filter c in (fields c))", 1, 48, "inside a subquery"),
        ("appendcols max=0 (limit 1)", 1, 1, "max takes a whole number of rows from 1 to"),
        ("lookup a b as c", 1, 16, "expected 'output'"),
        ("cidrlookup a b as c d", 1, 21, "expected output or outputnew"),
        ("parse @message '* *'", 1, 21, "expected 'as' and a name for each *"),
        ("parse @message '* *' as a", 1, 16, "the glob has 2 *, but 1 names follow 'as'"),
        ("parse @message '*'", 1, 19, "expected 'as' and a name for each * of the glob, found"),
        ("parse @message /(.)(?:.)/ as a, b", 1, 16, "has 1 groups, but 2 names follow 'as'"),
        ("parse @message /(.)(.)/ as a, a", 1, 20, "the group name 'a' is used twice"),
        ("fields j.a.b, j.`a.b`", 1, 15, "'j.a.b' names two values of this command; give one"),
        ("stats sum(a) as n, sum(b) as n", 1, 20, "'n' names two values of this command"),
        ("stats sum(a) as n by n", 1, 7, "'n' names two values of this command"),
        ("parse @message /(.)/", 1, 16, "this regular expression has no named group"),
        ("fields regexReplace(a, '(', 'b')", 1, 25, "this parenthesis is not closed"),
        ("fields regexReplace(a, b, 'c')", 1, 24, "takes a regular expression in quotes here"),
        (r"fields regexReplace(a, '(b)', '\1')", 1, 31, "groups of the match are not supported"),
        ("fields formatDate(@timestamp, '%Q')", 1, 31,
         "formatdate: %Q is not supported in a format"),
        ("fields formatDate(1, 'yyyy')", 1, 22, "formatdate: 'yyyy' has no letter after %, as in"),
        ("fields formatDate(@timestamp, a)", 1, 31, "formatdate: the format must be a text in"),
        ("fields formatDate(1, '%Y', 'Mars')", 1, 28, "there is no time zone 'Mars'; accepted"),
        ("fields formatDate(1, '%Y', '../x')", 1, 28, "there is no time zone '../x'; accepted"),
        ("fields parseDate(a, 'YYYY-MM-dd')", 1, 21, "YYYY is not supported in a pattern; suppo"),
        ("fields parseDate(a, 'HH:mm')", 1, 21, "the pattern must have year, month and day"),
        ('fields parseDate(a, "yyyy-MM-dd\'T")', 1, 21, "a quote in the pattern is not closed"),
        ("fields parseDate(a, 'X yyyy-MM-dd')", 1, 21, "an offset is accepted only at the"),
        ("fields case(" + "1, 2, " * 11 + "3)", 1, 8, "case takes 2 to 21 arguments, not 23"),
        ("limit", 1, 6, "expected a whole number of rows"),
        ("limit all 10", 1, 7, "expected a whole number of rows from 1 to 100000, found 'all'"),
        ("limit 2.5", 1, 7, "expected a whole number of rows"),
        ("limit 0", 1, 7, "limit 0 is not accepted; limit takes 1 to 100000 rows"),
        ("limit 100001", 1, 7, "limit 100001 is not accepted"),
        ("limit " + "9" * 5000, 1, 7, "is not accepted; limit takes 1 to 100000 rows"),
        ("stats count(*) group @log", 1, 22, "expected 'by'"),
        ("stats avg(*)", 1, 11, "'*' is accepted only as argument of count"),
        ("stats count(*) by bin(5fortnights)", 1, 23,
         "'5fortnights' is neither a number nor a period"),
        ("stats count(*) by bin(1w) | fillmissing", 1, 23, "needs bins of days or shorter"),
        ("stats count(*) by bin(0m)", 1, 23, "the period '0m' is not accepted"),
        ("fields " + "9" * 400, 1, 8, "this number is larger than a double holds"),
        ("fields " + "(" * 60 + "1" + ")" * 60, 1, 58, "nested deeper than 50 operations"),
        ("fields " + "+".join(["1"] * 60), 1, 111, "nested deeper than 50 operations"),
        ("filter " + "not " * 60 + "1 = 1", 1, 208, "nested deeper than 50 operations"),
        ("limit 1 |" * 250, 1, 1801, "too many commands or * in globs"),
        ("fields '" + "x" * 10_000, 1, 1, "has 10008 characters; at most 10000 are accepted"),
        ("stats count(*) as n, m", 1, 22,
         "'m' is neither a key nor an earlier item of this stats; known: n"),
        ("stats count by a", 1, 7, "a function needs parentheses: count(…)"),
        ("stats @message, count(*)", 1, 7, "earlier item of this stats; known: none"),
        ("stats strlen('a')", 1, 1, "stats takes at least one aggregate"),
        ("stats avg(max(@message))", 1, 11, "max is accepted only in stats"),
        ("filter count(*) > 1", 1, 8, "count is accepted only in stats"),
        ("stats count(*) by @log | stats count(*) by bin(1m)", 1, 44, "bin needs @timestamp"),
        (" | ".join(["stats count(*)"] * 11), 1, 171, "at most 10 stats"),
        ("fields @log | SOURCE 'a'", 1, 15, "SOURCE must come before all other command"),
        ("filter a in (fields b, c)", 1, 13, "have one field, this one has b, c"),
        ("filter a in (filter b in (fields c))", 1, 26, "a subquery inside a subquery"),
        ("stats count(*) by @log | limit 5 | stats count(*)", 1, 36, "only after the last stats"),
        ("stats count(*) by @log | tail 5 | stats count(*)", 1, 35, "only after the last stats"),
        ("sort @log | stats count(*) by @log | stats count(*)", 1, 38, "only after the last"),
        ("dedup @log | sort @log", 1, 14, "only limit may follow dedup"),
        ("fields strlenn(@message)", 1, 8, "unknown function 'strlenn'; did you mean 'strlen'?"),
        ("fields formatTime(@message)", 1, 8, "unknown function 'formattime'"),
        ("stats count(*) by @log | fillmissing", 1, 26, "must follow stats … by bin(…)"),
        ("stats count(*) by bin(1m) | fillmissing with 0 for m", 1, 29,
         "'m' is not a result of stats"),
        ("fields 1 as a | filldown b", 1, 17, "filldown finds none of these fields"),
        ("fields abs()", 1, 8, "abs takes 1 argument, not 0"),
        ("fields substr(@message)", 1, 8, "substr takes 2 to 3 arguments, not 1"),
        ("fields coalesce()", 1, 8, "coalesce takes 1 to any number of arguments, not 0"),
        ("fields bin()", 1, 8, "bin takes 1 argument, not 0"),
        ("fields bin(5)", 1, 12, "expected a period such as 5m"),
        ("fields bin('5m')", 1, 12, "expected a period such as 5m"),
        ("fields 5m", 1, 8, "a period is accepted only in bin, datefloor, dateceil, or added to"),
        ("fields abs(5m)", 1, 12, "a period is accepted only in bin"),
        ("filter @timestamp > 5m", 1, 21, "a period is accepted only in bin"),
        ("fields 5m * 2", 1, 8, "a period is accepted only in bin"),
        ("fields 2 + 5m", 1, 12, "+: a period can be added only to a time: @timestamp + 9h"),
        ("fields -5m", 1, 9, "-: a period can be added only to a time"),
        ("stats count(distinct a)", 1, 13, "write count_distinct(field) to count different"),
        ("stats pct(@message, 101)", 1, 21, "pct takes a number from 0 to 100 after the field"),
        ("stats pct(@message, @message)", 1, 21, "pct takes a number from 0 to 100 after the"),
        ("filter @message", 1, 8, "this is a text, but a condition is needed"),
        ("filter 1 = 1 and 'x'", 1, 18, "this is a text, but a condition is needed"),
    ],
)  # fmt: skip
def test_an_error_names_the_cause_and_its_place(query, line, column, message):
    error = failure(query)
    assert (error.line, error.column) == (line, column)
    assert message in error.message
    assert str(error) == f"line {line}, column {column}: {error.message}"


def test_an_error_shows_the_line_with_a_caret_under_the_column():
    error = failure("fields @message\n\t| patern @message\n| limit 1")
    assert error.excerpt() == "\t| patern @message\n\t  ^"


def test_the_caret_of_an_error_at_the_end_is_after_the_query():
    assert failure("limit").excerpt() == "limit\n     ^"


def test_the_excerpt_of_a_line_of_a_megabyte_is_short():
    excerpt = failure(f"fields {'a, ' * 3_000} | limit").excerpt()

    line, caret = excerpt.split("\n")
    assert line[-7:] == "| limit"
    assert (len(caret), len(excerpt) < 1_100) == (len(line) + 1, True)


def test_the_name_of_a_column_without_an_alias_is_its_source_text():
    # AWS documentation, CloudWatch Logs Insights query syntax: stats (its sample results).
    query = "stats avg( strlen(@message) ), count(*), count(*) as n by bin(5m), `@log`"
    assert insights.compile(query).columns == (
        "bin(5m)",
        "@log",
        "avg( strlen(@message) )",
        "count(*)",
        "n",
    )


def test_a_backslash_escapes_only_quotes_and_backslashes(ask):
    (row,) = ask(r"""fields 'it\'s' as a, "\"q\"" as b, "a\\b" as c, '\d' as d""", "x")
    assert row == {"a": "it's", "b": '"q"', "c": r"a\b", "d": r"\d"}


def test_a_slash_divides_unless_a_pattern_is_expected(ask):
    (row,) = ask("fields 12 / 3 / 2 as a, @message =~ /8\\/2/ as b, 8/2 as c", "8/2")
    assert row == {"a": "2", "b": "1", "c": "4"}


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_has_its_reader(word):
    # The registry names readers in texts, which no type checker sees. Most commands need arguments.
    with suppress(QueryError):
        insights.compile(word)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("filter @message ~= 'b c' | stats count(*)", "1"),
        ("filter @message =~ 'b c' | stats count(*)", "1"),
        ("filter @message ~= /b.c/ | stats count(*)", "1"),
        ("filter @message ~= 'b.c' | stats count(*)", None),
        ("parse @message /(?<@first>\\w) b/ | display @first", "a"),
        ("fields strlen(@message) as n | stats percentile(n, 99)", "5"),
        ("stat count(*)", "1"),
        ("stats count(*) by @logStream, | display `count(*)`,", "1"),
        ("stats count(*), by @logStream | display `count(*)`", "1"),
        ("stats count(*) by bin(@timestamp, 1h) | display `bin(@timestamp, 1h)`",
         "1970-01-01 00:00:00.000"),
        ("parse @message 'b' as x | display x, @logStream", "stream"),
        ("parse @message 'b' | display @logStream", "stream"),
    ],
)  # fmt: skip
def test_forms_of_public_dashboards_are_accepted(ask, query, value):
    rows = ask(query, "a b c")
    assert [list(row.values()) for row in rows] == ([[value]] if value else [])


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (r"'a\nb'", r"\n"),
        (r"'\'\t'", r"\t"),
        (r'"a\\\n"', r"\n"),
        (r"'a\\nb'", None),
        (r"'\d'", None),
        ("'a\nb'", None),
        ("'n'", None),
    ],
)
def test_a_line_end_as_in_other_languages_gets_a_warning(text, letter):
    warnings = insights.compile(f"filter @message like {text}").plan.warnings
    assert [each for each in warnings if f": {letter} in quotes is" in each] == list(warnings)
    assert len(warnings) == (letter is not None)
    assert insights.compile(f"filter path = {text}").plan.warnings == ()


def test_a_missing_field_that_a_value_is_compared_with_may_be_a_text(source):
    query = "filter level = info or j.level != info or level = j.info | fields other"
    warnings = run(query, source("a")).warnings
    quotes = "no event has a field 'info'; for the text, write it in quotes: 'info'"
    assert [each for each in warnings if "quotes" in each] == [quotes]
    assert "no event has a field 'j.info'" in warnings
    (_, null, _) = run("filter level = null", source("a")).warnings
    assert null == "no event has a field 'null'; for a missing field, write not ispresent(field)"


def test_a_glob_without_a_star_gets_a_warning():
    (warning,) = insights.compile("parse @message 'b' as x").plan.warnings
    assert warning == "line 1, column 16: this glob has no *, so it captures nothing; write 'a * b'"


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("commands", {read: name for name, read in reversed(COMMANDS.items())}.values()),
        ("functions", {id(each): name for name, each in reversed(FUNCTIONS.items())}.values()),
        ("refused by name", REFUSED.keys()),
    ],
)
def test_the_conformance_page_counts_and_names_commands_and_functions(title, names):
    page = (Path(__file__).parents[2] / "conformance.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {title} |"))
    _, _, number, listed, _ = row.split("|")
    assert int(number) == len(names)
    assert sorted(listed.strip().replace("`", "").split(", ")) == sorted(names)
