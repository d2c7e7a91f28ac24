"""DuckDB macros for the operations that Trino computes differently.

Source: Trino documentation, Functions and operators; if it says nothing, Trino's source code.
"""

from __future__ import annotations

_SPACE = r"E' \t\n\r\f\v'"
_WHOLE = r"'\s*[+-]?[0-9]+\s*'"
_DOUBLE = r"'\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*|NaN|[+-]?Infinity'"
_DECIMAL = r"'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?'"
_DATE = "'[0-9]{4}-[0-9]{2}-[0-9]{2}'"
_TIMESTAMP = r"'[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?)?'"
_MOMENT = r"'\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|\+00:00)?)?'"
_TRUTH = "'(?i)t|true|f|false|1|0'"

# Trino's name and the texts that Trino casts, for each type of DuckDB. DuckDB casts more texts.
_CASTS = {
    "INTEGER": ("INT", _WHOLE),
    "BIGINT": ("BIGINT", _WHOLE),
    "DOUBLE": ("DOUBLE", _DOUBLE),
    "BOOLEAN": ("BOOLEAN", _TRUTH),
    "DATE": ("DATE", _DATE),
    "TIMESTAMP": ("TIMESTAMP", _TIMESTAMP),
}


def _text_casts() -> list[str]:
    macros = []
    for type_, (name, pattern) in _CASTS.items():
        attempt = f"CASE WHEN regexp_full_match(s, {pattern}) THEN TRY_CAST(s AS {type_}) END"
        refusal = f"'INVALID_CAST_ARGUMENT: Cannot cast ''' || s || ''' to {name}'"
        macros += [
            f"try_text_to_{type_}(s) AS {attempt}",
            f"text_to_{type_}(s) AS CASE WHEN s IS NULL THEN NULL "
            f"WHEN ({attempt}) IS NULL THEN error({refusal}) ELSE {attempt} END",
        ]
    return macros


def _comparisons() -> list[str]:
    """Return comparisons of doubles, in which NaN is neither equal, less nor greater."""
    unordered = "isnan(a) AND b IS NOT NULL OR isnan(b) AND a IS NOT NULL"
    operators = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
    return [
        f"double_{name}(a, b) AS CASE WHEN {unordered} THEN {name == 'neq'} ELSE a {sign} b END"
        for name, sign in operators.items()
    ]


# The engine's limit of memory does not count the texts that a function makes. DuckDB works out the
# branch of a CASE that it does not take, if it is constant: the argument has the limit, too.
_MOST_PADDED = 1_000_000
MACROS = [
    *_text_casts(),
    *_comparisons(),
    f"maybe_decimal(s) AS CASE WHEN regexp_full_match(s, {_DECIMAL}) THEN s END",
    f"text_of_decimal(s) AS CASE WHEN s IS NULL THEN NULL WHEN regexp_full_match(s, {_DECIMAL}) "
    "THEN s ELSE error('INVALID_CAST_ARGUMENT: Cannot cast VARCHAR ''' || s || ''' to DECIMAL. "
    "Value is not a number.') END",
    "unscaled(x) AS CAST(replace(CAST(x AS VARCHAR), '.', '') AS HUGEINT)",
    "with_zeros(n, zeros) AS CAST(CAST(n AS VARCHAR) || zeros AS HUGEINT)",
    "filled(t, n) AS lpad(t, CAST(greatest(length(t), n) AS INTEGER), '0')",
    "pointed(t, scale) AS left(t, length(t) - scale) || '.' || right(t, scale)",
    "scaled(n, scale) AS CASE WHEN n < 0 THEN '-' ELSE '' END "
    "|| pointed(filled(CAST(abs(n) AS VARCHAR), scale + 1), scale)",
    "half_up(a, b) AS CASE WHEN b = 0 THEN error('DIVISION_BY_ZERO: Division by zero') "
    "ELSE CASE WHEN (a < 0) = (b < 0) THEN 1 ELSE -1 END "
    "* ((2 * abs(a) + abs(b)) // (2 * abs(b))) END",
    "remainder(a, b) AS CASE WHEN b = 0 THEN error('DIVISION_BY_ZERO: Division by zero') "
    "ELSE a % b END",
    "total(list) AS CASE WHEN list_count(list) = len(list) THEN coalesce(list_sum(list), 0e0) END",
    "double_nullif(a, b) AS CASE WHEN double_eq(a, b) THEN NULL ELSE a END",
    # Scaling before rounding lets the binary value decide how 2.675 is rounded to two digits.
    "round_to(x, digits) AS round(x * power(10, digits)) / power(10, digits)",
    "timestamp_text(x, zone) AS strftime(x, '%Y-%m-%d %H:%M:%S.%g') || zone",
    "this_moment() AS make_timestamp_ms(epoch_ms(now()))",
    "unix_moment(x) AS make_timestamp_ms(CAST(round(CAST(x AS DOUBLE) * 1000) AS BIGINT))",
    f"iso_moment(s) AS CASE WHEN s IS NULL THEN NULL WHEN regexp_full_match(s, {_MOMENT}) "
    "THEN CAST(rtrim(split_part(s, '+', 1), 'Z') AS TIMESTAMP) ELSE "
    "error('NOT_SUPPORTED: from_iso8601_timestamp of ''' || s || ''', which is not a time in UTC "
    "of at most milliseconds, is not supported on one machine') END",
    # The shortest text that reads as the same double, always with an exponent.
    "plain_text(x) AS CAST(x AS VARCHAR)",
    "figures(t) AS replace(split_part(t, 'e', 1), '.', '')",
    "exponent(t) AS CAST(coalesce(nullif(split_part(t, 'e', 2), ''), '0') AS INTEGER) "
    "+ length(split_part(split_part(t, 'e', 1), '.', 1)) - 1 "
    "- (length(figures(t)) - length(ltrim(figures(t), '0')))",
    "scientific(digits, ten) AS digits[1] || '.' || coalesce(nullif(digits[2:], ''), '0') "
    "|| 'E' || ten",
    "double_text(x) AS CASE WHEN isnan(x) THEN 'NaN' WHEN isinf(x) THEN "
    "CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END "
    "ELSE CASE WHEN x < 0 OR CAST(x AS VARCHAR) LIKE '-%' THEN '-' ELSE '' END || "
    "CASE WHEN x = 0 THEN '0E0' ELSE scientific(trim(figures(CAST(abs(x) AS VARCHAR)), '0'), "
    "exponent(CAST(abs(x) AS VARCHAR))) END END",
    "rounded_half_up(x, digits) AS CASE WHEN abs(x) >= 1e15 OR NOT isfinite(x) THEN x ELSE "
    "CAST(round(CAST(CAST(x AS VARCHAR) AS DECIMAL(38, 18)), CAST(digits AS INTEGER)) AS DOUBLE) "
    "END",
    "subscripted(list, n) AS CASE WHEN n = 0 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: SQL array indices start at 1') WHEN n < 0 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: Array subscript is negative: ' || n) WHEN n > len(list) "
    "THEN error('INVALID_FUNCTION_ARGUMENT: Array subscript must be less than or equal to array "
    "length: ' || n || ' > ' || len(list)) ELSE list[n] END",
    # The first of equal keys counts, and a null key is left out.
    "map_of_pairs(l) AS map_from_entries(list_filter(l, lambda e, i: e.key IS NOT NULL "
    "AND list_position(list_transform(l, lambda x: x.key), e.key) = i))",
    "any_match(truths) AS CASE WHEN list_contains(truths, TRUE) THEN TRUE "
    "WHEN len(truths) = list_count(truths) THEN FALSE END",
    "all_match(truths) AS CASE WHEN list_contains(truths, FALSE) THEN FALSE "
    "WHEN len(truths) = list_count(truths) THEN TRUE END",
    "none_match(truths) AS CASE WHEN list_contains(truths, TRUE) THEN FALSE "
    "WHEN len(truths) = list_count(truths) THEN TRUE END",
    "matches_of(s, pattern) AS len(regexp_extract_all(s, pattern))",
    "character_of(n) AS chr(CAST(n AS INTEGER))",
    "milliseconds_of(x) AS CAST(millisecond(x) % 1000 AS BIGINT)",
    "value_at(m, k) AS CASE WHEN map_contains(m, k) THEN map_extract_value(m, k) ELSE "
    "error('INVALID_FUNCTION_ARGUMENT: Key not present in map: ' || CAST(k AS VARCHAR)) END",
    "sliced(list, start, n) AS CASE WHEN start = 0 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: SQL array indices start at 1') WHEN n < 0 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: length must be greater than or equal to 0') "
    "WHEN abs(start) > len(list) OR n = 0 THEN list[1:0] WHEN start < 0 "
    "THEN list[len(list) + start + 1:least(len(list), len(list) + start + n)] "
    "ELSE list[start:start + n - 1] END",
    "bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 "
    "ELSE CAST(floor((x - low) / (high - low) * n) AS BIGINT) + 1 END",
    "iso_timestamp(x) AS strftime(x, '%Y-%m-%dT%H:%M:%S.%g')",
    "iso_date(x) AS strftime(x, '%Y-%m-%d')",
    "unix_seconds(x) AS epoch_ms(x) / 1000e0",
    "moved(unit, n, x) AS x + CASE lower(unit) WHEN 'millisecond' THEN to_milliseconds(n) "
    "WHEN 'second' THEN to_seconds(n) WHEN 'minute' THEN to_minutes(n) "
    "WHEN 'hour' THEN to_hours(n) WHEN 'day' THEN to_days(CAST(n AS INTEGER)) "
    "WHEN 'week' THEN to_weeks(CAST(n AS INTEGER)) "
    "WHEN 'month' THEN to_months(CAST(n AS INTEGER)) "
    "WHEN 'quarter' THEN to_months(CAST(3 * n AS INTEGER)) "
    "WHEN 'year' THEN to_years(CAST(n AS INTEGER)) END",
    # A start outside the text gives an empty text, while DuckDB moves the start.
    "part(s, start) AS CASE WHEN start = 0 OR abs(start) > length(s) THEN '' "
    "ELSE substring(s, start) END, (s, start, n) AS CASE WHEN start = 0 OR n <= 0 "
    "OR abs(start) > length(s) THEN '' ELSE substring(s, start, n) END",
    "field(s, delimiter, n) AS CASE WHEN n < 1 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: Index must be greater than zero') "
    "WHEN delimiter = '' THEN "
    "error('NOT_SUPPORTED: split_part with an empty delimiter is not supported on one machine') "
    "ELSE string_split(s, delimiter)[n] END",
    "replaced(s, old, new) AS CASE WHEN old = '' THEN "
    "error('NOT_SUPPORTED: replace of an empty text is not supported on one machine') "
    "ELSE replace(s, old, new) END",
    "fields(s, delimiter) AS CASE WHEN delimiter = '' THEN "
    "error('INVALID_FUNCTION_ARGUMENT: The delimiter may not be the empty string') "
    "ELSE string_split(s, delimiter) END",
    *(
        f"{side}_padded(s, n, pad) AS CASE "
        "WHEN n < 0 THEN error('INVALID_FUNCTION_ARGUMENT: Target length must be in the range "
        "[0..2147483647]') WHEN pad = '' THEN "
        "error('INVALID_FUNCTION_ARGUMENT: Padding string must not be empty') "
        f"WHEN n > {_MOST_PADDED} THEN error('EXCEEDED_LOCAL_MEMORY_LIMIT: A text is padded to at "
        f"most {_MOST_PADDED:,} characters on one machine') "
        f"ELSE {side[0]}pad(s, CAST(least(n, {_MOST_PADDED}) AS INTEGER), pad) END"
        for side in ("left", "right")
    ),
    "extracted(s, pattern) AS CASE WHEN regexp_matches(s, pattern) "
    "THEN regexp_extract(s, pattern) END, (s, pattern, n) AS CASE "
    "WHEN regexp_matches(s, pattern) THEN regexp_extract(s, pattern, n) END",
    # A month has passed on the same day of the next one, or on its last day.
    "months_until(a, b) AS date_diff('month', a, b) - "
    "CASE WHEN a + to_months(CAST(date_diff('month', a, b) AS INTEGER)) > b THEN 1 ELSE 0 END",
    "passed_months(a, b) AS CASE WHEN a <= b THEN months_until(a, b) ELSE -months_until(b, a) END",
    # DuckDB skips blanks around a time.
    r"parsed(s, form) AS CASE WHEN regexp_matches(s, '^\s|\s$') THEN "
    "error('INVALID_FUNCTION_ARGUMENT: Invalid format: ' || s) ELSE strptime(s, form) END",
    "log_of(base, x) AS ln(x) / ln(base)",
    "array_length(s) AS CASE WHEN json_valid(s) AND json_type(s) = 'ARRAY' "
    "THEN CAST(json_array_length(s) AS BIGINT) END",
    "and_bits(a, b) AS CAST(a & b AS BIGINT)",
    "or_bits(a, b) AS CAST(a | b AS BIGINT)",
    "xor_bits(a, b) AS CAST(xor(a, b) AS BIGINT)",
    "euler() AS 2.718281828459045e0",
    # Trino documentation, sequence: its limit.
    "counted(a, b) AS CASE WHEN abs(b - a) >= 10000 THEN error('INVALID_FUNCTION_ARGUMENT: result "
    "of sequence function must not have more than 10000 entries') "
    "ELSE generate_series(a, CASE WHEN abs(b - a) >= 10000 THEN a ELSE b END, "
    "CASE WHEN a > b THEN -1 ELSE 1 END) END",
    "infinite() AS CAST('Infinity' AS DOUBLE)",
    "not_a_number() AS CAST('NaN' AS DOUBLE)",
    f"stripped(s) AS trim(s, {_SPACE})",
    f"left_stripped(s) AS ltrim(s, {_SPACE})",
    f"right_stripped(s) AS rtrim(s, {_SPACE})",
    # A null in an array may equal an element that the array lacks: the answer is null.
    "has_element(list, x) AS CASE WHEN list_contains(list, x) THEN TRUE "
    "WHEN len(list) > list_count(list) THEN NULL ELSE list_contains(list, x) END",
    "share_element(list, other) AS CASE WHEN list_has_any(list, other) THEN TRUE "
    "WHEN len(list) = list_count(list) AND len(other) = list_count(other) THEN FALSE END",
    "max_of_all(list) AS CASE WHEN list_count(list) = len(list) THEN list_max(list) END",
    "min_of_all(list) AS CASE WHEN list_count(list) = len(list) THEN list_min(list) END",
    # DuckDB's list_distinct has an order of its own, and drops nulls.
    "distinct_elements(list) AS list_filter(list, lambda x, i: list_position(list, x) = i)",
    "place_of(list, x) AS CASE WHEN list IS NOT NULL AND x IS NOT NULL "
    "THEN CAST(coalesce(list_position(list, x), 0) AS BIGINT) END",
    "joined(list, separator) AS "
    "CASE WHEN len(list) >= 0 THEN coalesce(array_to_string(list, separator), '') END",
    "element(list, n) AS CASE WHEN n = 0 THEN "
    "error('INVALID_FUNCTION_ARGUMENT: SQL array indices start at 1') ELSE list[n] END",
    "json_scalar(s, path) AS CASE WHEN NOT json_valid(s) THEN NULL "
    "WHEN json_type(s, path) = 'DOUBLE' THEN error('NOT_SUPPORTED: json_extract_scalar "
    "of a number with a fraction is not supported on one machine') "
    "WHEN json_type(s, path) IN ('VARCHAR', 'BOOLEAN', 'BIGINT', 'UBIGINT') THEN s ->> path END",
]
