"""The syntax of Trino's queries: what sqlglot, which also reads other databases, must not accept.

sqlglot reads ``1e3+2e3`` as a number and a name, so that the tokens are read here, too.

Rules are in EBNF: words in upper case and quoted words are tokens, ``[ ]`` is optional, ``{ }``
repeats, and ``x+`` is a list of x with commas between. Precedence is left out: sqlglot has it.
Source: Trino documentation, SELECT and SQL language; Trino's grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from sqlglot import Token, TokenType
from sqlglot.dialects.trino import Trino

from onebox.athena.errors import MalformedQuery

_RULES = """
statement: query [ ';' ]
query: [ WITH [ RECURSIVE ] named+ ] terms
terms: term { ( UNION | EXCEPT | INTERSECT ) [ distinct ] term } [ 'ORDER BY' sort+ ] [ OFFSET count [ ROW | ROWS ] ] [ LIMIT ( ALL | count ) | FETCH ( FIRST | NEXT ) [ count ] ( ROW | ROWS ) ( ONLY | WITH TIES ) ]
count: integer | '?'
named: name [ columns ] AS '(' query ')'
columns: '(' name+ ')'
distinct: DISTINCT | ALL
term: select | TABLE path | VALUES value+ | '(' terms ')'
select: SELECT [ distinct ] item+ [ FROM relation+ ] [ WHERE value ] [ 'GROUP BY' [ distinct ] group+ ] [ HAVING value ] [ WINDOW window+ ]
item: '*' | primary '.' '*' [ AS columns ] | value [ AS name | alias ]
group: ( ROLLUP | CUBE ) '(' [ values+ ] ')' | 'GROUPING SETS' '(' values+ ')' | values
values: value | '(' [ value+ ] ')'
window: name AS '(' over ')'
over: [ name ] [ 'PARTITION BY' value+ ] [ 'ORDER BY' sort+ ] [ rows ]
rows: [ MEASURES measure+ ] ( RANGE | ROWS | GROUPS ) ( bound | BETWEEN bound AND bound ) [ AFTER MATCH SKIP skip ] [ INITIAL | SEEK ] [ PATTERN nested ] [ SUBSET subset+ ] [ DEFINE variable+ ]
measure: value AS name
skip: TO NEXT ROW | PAST LAST ROW | TO [ FIRST | LAST ] name
subset: name '=' columns
variable: name AS value
bound: UNBOUNDED ( PRECEDING | FOLLOWING ) | CURRENT ROW | value ( PRECEDING | FOLLOWING )
sort: value [ ASC | DESC ] [ NULLS ( FIRST | LAST ) ]
relation: sampled { CROSS JOIN sampled | NATURAL [ side ] JOIN sampled | [ side ] JOIN relation ( ON value | USING columns ) }
side: INNER | ( LEFT | RIGHT | FULL ) [ OUTER ]
sampled: aliased [ MATCH_RECOGNIZE nested [ [ AS ] name [ columns ] ] ] [ TABLESAMPLE ( BERNOULLI | SYSTEM ) '(' value ')' ]
aliased: source [ ( AS name | table_alias ) [ columns ] ]
source: path [ FOR ( TIMESTAMP | VERSION ) AS OF operand ] | '(' query ')' | '(' relation ')' | UNNEST '(' value+ ')' [ WITH ORDINALITY ] | LATERAL '(' query ')' | TABLE nested | JSON_TABLE nested
path: name { '.' name }
value: { NOT } predicate { ( AND | OR ) { NOT } predicate }
predicate: operand [ comparison operand | comparison ( ALL | SOME | ANY ) '(' query ')' | [ NOT ] BETWEEN operand AND operand | [ NOT ] IN '(' ( value+ | query ) ')' | [ NOT ] LIKE operand [ ESCAPE operand ] | IS [ NOT ] ( NULL | DISTINCT FROM operand ) ]
comparison: '=' | '<>' | '!=' | '<' | '<=' | '>' | '>='
operand: signed { ( '+' | '-' | '*' | '/' | '%' | '||' ) signed }
signed: { '+' | '-' } primary { AT TIME ZONE ( string | interval ) }
primary: atom { '[' operand ']' | '.' name }
atom: number | text | binary | '?' | NULL | TRUE | FALSE | interval | literal | call | name | lambda | '(' query ')' | '(' value+ ')' | ROW '(' value+ ')' | [ ARRAY ] '[' [ value+ ] ']' | EXISTS '(' query ')' | cast | case | extract | position | trim | substring | moment | ( GROUPING | LISTAGG | NORMALIZE | JSON_ARRAY | JSON_EXISTS | JSON_OBJECT | JSON_QUERY | JSON_VALUE ) nested [ WITHIN GROUP nested ] [ filter ]
text: string | unicode [ UESCAPE string ]
interval: INTERVAL [ '+' | '-' ] string unit [ TO unit ]
unit: YEAR | MONTH | DAY | HOUR | MINUTE | SECOND
literal: ( plain | 'DOUBLE PRECISION' ) text
call: name frame | [ RUNNING | FINAL ] path ( '(' [ name '.' ] '*' ')' [ filter ] [ frame ] | '(' [ [ distinct ] value+ ] [ 'ORDER BY' sort+ ] ')' [ filter ] [ [ ( IGNORE | RESPECT ) NULLS ] frame ] )
frame: OVER ( name | '(' over ')' )
filter: FILTER '(' WHERE value ')'
lambda: ( name | '(' [ name+ ] ')' ) '->' value
cast: ( CAST | TRY_CAST ) '(' value AS type ')'
case: CASE [ value ] when { when } [ ELSE value ] END
when: WHEN value THEN value
extract: EXTRACT '(' name FROM operand ')'
position: POSITION '(' operand IN operand ')'
trim: TRIM '(' ( [ [ LEADING | TRAILING | BOTH ] [ operand ] FROM ] operand | operand ',' operand ) ')'
substring: SUBSTRING '(' operand FROM operand [ FOR operand ] ')'
moment: CURRENT_DATE | CURRENT_USER | CURRENT_CATALOG | CURRENT_SCHEMA | CURRENT_PATH | ( CURRENT_TIME | CURRENT_TIMESTAMP | LOCALTIME | LOCALTIMESTAMP ) [ '(' integer ')' ]
type: base { ARRAY [ '[' integer ']' ] }
base: plain [ '(' parameter+ ')' ] | 'DOUBLE PRECISION' | ( TIMESTAMP | TIME ) [ '(' parameter ')' ] [ ( WITH | WITHOUT ) TIME ZONE ] | ROW '(' field+ ')' | ARRAY '<' type '>' | MAP '<' type ',' type '>' | INTERVAL unit [ TO unit ]
plain: BOOLEAN | TINYINT | SMALLINT | INTEGER | INT | BIGINT | REAL | DOUBLE | DECIMAL | VARCHAR | CHAR | VARBINARY | JSON | DATE | TIME | TIMESTAMP | ARRAY | MAP | ROW | UUID | IPADDRESS | IPPREFIX | HYPERLOGLOG | P4HYPERLOGLOG | SETDIGEST | QDIGEST | TDIGEST | GEOMETRY | SPHERICALGEOGRAPHY | BINGTILE
parameter: integer | type
field: [ name ] type
"""  # noqa: E501 (a rule is a line)
# The keywords that are not names (Trino documentation, Keywords and identifiers).
_RESERVED_WORDS = """
ALTER AND AS BETWEEN BY CASE CAST CONSTRAINT CREATE CROSS CUBE CURRENT_CATALOG CURRENT_DATE
CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEALLOCATE
DELETE DESCRIBE DISTINCT DROP ELSE END ESCAPE EXCEPT EXECUTE EXISTS EXTRACT FALSE FOR FROM FULL
GROUP GROUPING HAVING IN INNER INSERT INTERSECT INTO IS JOIN JSON_ARRAY JSON_EXISTS JSON_OBJECT
JSON_QUERY JSON_TABLE JSON_VALUE LEFT LIKE LISTAGG LOCALTIME LOCALTIMESTAMP NATURAL NORMALIZE NOT
NULL ON OR ORDER OUTER PREPARE RECURSIVE RIGHT ROLLUP SELECT TABLE THEN TRIM TRUE UESCAPE UNION
UNNEST USING VALUES WHEN WHERE WITH
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
_NOTATION = re.compile(r"'([^']+)'|([A-Z_]+)|([a-z_]+)(\+?)|([][(){}|])")
# Names that sqlglot reads as clauses, after a function and after a table.
_CLAUSES = frozenset(("FILTER", "OVER"))
_TABLE_CLAUSES = _CLAUSES | {"FETCH", "LIMIT", "OFFSET"}
_KINDS = {
    TokenType.STRING: "string",
    TokenType.UNICODE_STRING: "unicode",
    TokenType.HEX_STRING: "binary",
    TokenType.IDENTIFIER: "quoted",
}
_UNQUOTED = re.compile(r"[A-Z_][A-Z0-9_]*")

Ends = frozenset[int]
_NOWHERE: Ends = frozenset()
_NAME = "name"
_NAMES = frozenset((_NAME,))
_EMPTY = ""


class _Text:
    """Tokens to match, with the ends of each rule at each place."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.words = [*map(_word, tokens), "<EOF>"]
        self.ends: dict[tuple[str, int], Ends] = {}
        self.furthest = 0

    def fits(self, at: int, words: frozenset[str]) -> bool:
        """Tell whether the token at a place is one of some, and remember the furthest place."""
        self.furthest = max(self.furthest, at)
        word = self.words[at]
        return word in words or (_NAME in words and _is_name(word))


@dataclass(frozen=True)
class _Part:
    """A part of a rule.

    Attributes
    ----------
    ends
        Returns all places where the part can end that begins at a place.
    begins
        Returns the tokens with which the part begins, and ``''`` if it may be empty.
    """

    ends: Callable[[_Text, int], Ends]
    begins: Callable[[], frozenset[str]]


def _word(token: Token) -> str:
    """Return a keyword or sign in upper case, or the kind of another token in lower case."""
    if token.token_type is TokenType.NUMBER:
        return "integer" if token.text.isdigit() else "decimal"
    return _KINDS.get(token.token_type) or token.text.upper()


def _is_name(word: str) -> bool:
    return word == "quoted" or (word not in _RESERVED and _UNQUOTED.fullmatch(word) is not None)


def _token(*words: str) -> _Part:
    accepted = frozenset(words)
    return _Part(
        lambda text, at: frozenset((at + 1,)) if text.fits(at, accepted) else _NOWHERE,
        lambda: accepted,
    )


def _alias(clauses: frozenset[str]) -> _Part:
    """Return the part for a name without AS."""

    def ends(text: _Text, at: int) -> Ends:
        is_alias = text.fits(at, _NAMES) and text.words[at] not in clauses
        return frozenset((at + 1,)) if is_alias else _NOWHERE

    return _Part(ends, lambda: _NAMES)


def _nested(text: _Text, at: int) -> Ends:
    """Return the end of any tokens in round brackets."""
    depth = 0
    for end in range(at, len(text.words)):
        depth += {"(": 1, ")": -1}.get(text.words[end], 0)
        if depth <= 0:
            return frozenset((end + 1,)) if end > at else _NOWHERE
    return _NOWHERE


def _rule(name: str) -> _Part:
    def ends(text: _Text, at: int) -> Ends:
        if (known := text.ends.get((name, at))) is None:
            begins = _begins(name)
            possible = text.fits(at, begins) or _EMPTY in begins
            known = text.ends[name, at] = _rules[name].ends(text, at) if possible else _NOWHERE
        return known

    return _Part(ends, lambda: _begins(name))


@cache
def _begins(name: str) -> frozenset[str]:
    return _rules[name].begins()


def _sequence(parts: Sequence[_Part]) -> _Part:
    def ends(text: _Text, at: int) -> Ends:
        found: Ends = frozenset((at,))
        for part in parts:
            found = frozenset(chain.from_iterable(part.ends(text, end) for end in found))
            if not found:
                break
        return found

    def begins() -> frozenset[str]:
        found = frozenset((_EMPTY,))
        for part in parts:
            if _EMPTY not in found:
                break
            found = found - {_EMPTY} | part.begins()
        return found

    return _Part(ends, begins)


def _choice(parts: Sequence[_Part]) -> _Part:
    return _Part(
        lambda text, at: frozenset(chain.from_iterable(part.ends(text, at) for part in parts)),
        lambda: frozenset(chain.from_iterable(part.begins() for part in parts)),
    )


def _optional(part: _Part) -> _Part:
    return _choice([part, _sequence([])])


def _repeated(part: _Part) -> _Part:
    def ends(text: _Text, at: int) -> Ends:
        found, new = frozenset((at,)), frozenset((at,))
        while new:
            new = frozenset(chain.from_iterable(part.ends(text, end) for end in new)) - found
            found |= new
        return found

    return _Part(ends, lambda: part.begins() | {_EMPTY})


def _listed(part: _Part) -> _Part:
    return _sequence([part, _repeated(_sequence([_token(","), part]))])


_BRACKETS: dict[str, tuple[str, Callable[[_Part], _Part]]] = {
    "[": ("]", _optional),
    "{": ("}", _repeated),
    "(": (")", lambda part: part),
}


def _alternatives(symbols: list[tuple[str, ...]], end: str) -> _Part:
    """Return the right side of a rule up to a closing bracket, and remove its symbols."""
    choices: list[list[_Part]] = [[]]
    while symbols:
        quoted, keyword, name, more, bracket = symbols.pop(0)
        if bracket and bracket == end:
            break
        if bracket == "|":
            choices.append([])
        elif bracket:
            closing, build = _BRACKETS[bracket]
            choices[-1].append(build(_alternatives(symbols, closing)))
        elif name:
            choices[-1].append(_listed(_rule(name)) if more else _rule(name))
        else:
            choices[-1].append(_token(quoted or keyword))
    return _choice([_sequence(parts) if len(parts) != 1 else parts[0] for parts in choices])


_rules = {
    **{kind: _token(kind) for kind in ("string", "unicode", "binary", "integer", _NAME)},
    "number": _token("integer", "decimal"),
    "alias": _alias(_CLAUSES),
    "table_alias": _alias(_TABLE_CLAUSES),
    "nested": _Part(_nested, lambda: frozenset("(")),
    **{
        name: _alternatives(_NOTATION.findall(right), "")
        for name, right in re.findall(r"^(\w+): (.*)$", _RULES, re.MULTILINE)
    },
}
WORDS = _RESERVED | {quoted or word for quoted, word, *_ in _NOTATION.findall(_RULES)}
"""The words that have a meaning in queries; sqlglot knows more, of other databases."""


def first_mismatch(tokens: Sequence[Token]) -> int | None:
    """Return the position of the first token that no query of Trino has there.

    It is the number of tokens if the end is missing, and None if the tokens are one query.
    """
    text = _Text(tokens)
    return None if len(tokens) in _rules["statement"].ends(text, 0) else text.furthest


_BLANK = r"[ \r\n\t]+|--[^\r\n]*|/\*.*?\*/"
# Two words that are one token of sqlglot, such as GROUP BY.
_PAIRS = "|".join(word.replace(" ", f"(?>{_BLANK})++") for word in sorted(WORDS) if " " in word)
_DIGITS = r"\d(?:_?\d)*"
_FORMS = {
    "blank": _BLANK,
    "string": r"'(?:[^']|'')*'",
    "unicode": r"[uU]&'(?:[^']|'')*'",
    "binary": r"[xX]'[^']*'",
    "quoted": r'"(?:[^"]|"")*"',
    # A name that touches a number is a mistake: 1e+3 is a number, 1e and 12abc are not.
    "number": r"(?:(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+"
    rf"|{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS}"
    rf"|0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|{_DIGITS})(?![\w.])",
    "other_number": r"\.?\d(?:[\w.]|(?<=[eE])[+-])*",
    "pair": rf"(?i:{_PAIRS})(?!\w)",
    "word": r"[A-Za-z_]\w*",
    "foreign": r"==|::|<=>|//(?!\*)|\*\*|&&",
    "sign": r"<>|!=|<=|>=|\|\||->|=>|[][(){}|,.:=<>+\-*/%?;^$]",
    "other": r".",
}
_TOKEN = re.compile("|".join(f"(?P<{k}>{v})" for k, v in _FORMS.items()), re.ASCII | re.DOTALL)
# Trino's own words for operators of other databases.
_INSTEAD = {
    "==": "=",
    "::": "CAST(… AS …)",
    "<=>": "IS NOT DISTINCT FROM",
    "//": "/, which divides integers without a rest",
    "**": "power(…, …)",
    "&&": "AND",
    "`": "a name in double quotes",
}
_QUOTED_KINDS = {
    "string": TokenType.STRING,
    "unicode": TokenType.UNICODE_STRING,
    "binary": TokenType.HEX_STRING,
    "quoted": TokenType.IDENTIFIER,
    "number": TokenType.NUMBER,
}
# A dollar sign ends a pattern of rows; sqlglot has no token for it.
_SIGNS = {**Trino.Tokenizer.SINGLE_TOKENS, **Trino.Tokenizer.KEYWORDS, "$": TokenType.UNKNOWN}
# More digits are not a number of Trino either; Python refuses to read 4,301 of them.
_MOST_DIGITS = 1_000


def tokens(text: str) -> list[Token]:
    """Return the tokens of a query without its comments.

    Raises
    ------
    MalformedQuery
        If Trino has no such token, or a name touches a number.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    line, begin = 1, 0
    for match in _TOKEN.finditer(text):
        form, word, start = str(match.lastgroup), match[0], match.start()
        place = f"line {line}:{start - begin + 1}"
        if breaks := word.count("\n"):
            line, begin = line + breaks, start + word.rindex("\n") + 1
        if form != "blank":
            kind, value = _kind_and_text(form, word, place)
            yield Token(kind, value, line, match.end() - begin, start, match.end() - 1)


def _kind_and_text(form: str, word: str, place: str) -> tuple[TokenType, str]:
    """Return the kind of a token and its text without quotes."""
    if form == "other_number":
        raise MalformedQuery(
            "",
            f"{place}: '{word}' is neither a number nor a name; write a blank after a number, "
            "and a name that begins with a digit in double quotes",
        )
    if word in _INSTEAD:
        raise MalformedQuery("", f"{place}: Athena has no '{word}'; write {_INSTEAD[word]}")
    if form == "other":
        quote = f"{word} (a quote without its second one)" if word in "'\"" else f"'{word}'"
        raise MalformedQuery("", f"{place}: mismatched input {quote}")
    if form == "number":
        if len(word) > _MOST_DIGITS:
            raise MalformedQuery("", f"{place}: Invalid numeric literal: {word[:20]}…")
        return TokenType.NUMBER, _number(word)
    if form in _QUOTED_KINDS:
        quote = word[-1]
        inner = word[word.index(quote) + 1 : -1]
        return _QUOTED_KINDS[form], inner.replace(quote * 2, quote)
    if form == "sign":
        return _SIGNS[word], word
    if form == "pair":
        word = re.sub(f"(?s:{_BLANK})+", " ", word)
    return _kind(word.upper()), word


def _number(word: str) -> str:
    """Return a number as DuckDB reads it, too: integers in decimal, no underscores."""
    return word.replace("_", "") if re.search(r"\.|^\d+[eE]", word) else str(_whole(word))


def _whole(word: str) -> int:
    return int(word, 0) if word[:2].lower() in {"0x", "0o", "0b"} else int(word)


def _kind(words: str) -> TokenType:
    """Return the kind of a word in upper case: sqlglot's, if the word has a meaning in Trino."""
    return Trino.Tokenizer.KEYWORDS.get(words, TokenType.VAR) if words in WORDS else TokenType.VAR
