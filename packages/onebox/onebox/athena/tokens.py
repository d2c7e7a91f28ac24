"""The tokens of a query, as Trino reads them: sqlglot reads ``1e3+2e3`` as a number and a name.

Source: Trino documentation, Keywords and identifiers, Literals, Comments; Trino's grammar for the
forms of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import Token, TokenType
from sqlglot.dialects.trino import Trino

from onebox.athena.errors import MalformedQuery
from onebox.athena.grammar import WORDS

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
_KINDS = {
    "string": TokenType.STRING,
    "unicode": TokenType.UNICODE_STRING,
    "binary": TokenType.HEX_STRING,
    "quoted": TokenType.IDENTIFIER,
    "number": TokenType.NUMBER,
}
# A dollar sign ends a pattern of rows; sqlglot has no token for it.
_SIGNS = {**Trino.Tokenizer.SINGLE_TOKENS, **Trino.Tokenizer.KEYWORDS, "$": TokenType.UNKNOWN}
# More digits are no number of Trino either; Python refuses to read 4,301 of them.
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
            kind, value = _token(form, word, place)
            yield Token(kind, value, line, match.end() - begin, start, match.end() - 1)


def _token(form: str, word: str, place: str) -> tuple[TokenType, str]:
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
    if form in _KINDS:
        quote = word[-1]
        inner = word[word.index(quote) + 1 : -1]
        return _KINDS[form], inner.replace(quote * 2, quote)
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
