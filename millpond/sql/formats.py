"""Builders of Spark expressions for functions whose spelling depends on their arguments: patterns, formats, lists."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.casts import to_text
from millpond.sql.interval_math import extreme_interval
from millpond.sql.nodes import is_typed, type_of, unwrapped
from millpond.sql.templates import fill
from millpond.types import INTERVAL


def literal_text(node: exp.Expr, what: str) -> str:
    """The text of an argument that must be written out, because its meaning is worked out before the query runs."""
    bare = unwrapped(node)
    if not (isinstance(bare, exp.Literal) and bare.is_string):
        raise not_supported(f"{what} that is not a literal")
    return str(bare.this)


def _shown(node: exp.Expr) -> exp.Expr:
    """A value as `concat` shows it: like a cast to text, but t and f for booleans."""
    if is_typed(node) and type_of(node).name == "boolean":
        return fill("CASE WHEN _1 THEN 't' WHEN NOT _1 THEN 'f' END", node)
    return to_text(node, type_of(node))


def left(call: exp.Anonymous) -> exp.Expr:
    """`left(s, 2)` -> `SUBSTRING(s, 1, 2)`; a negative number leaves so many characters out at the end."""
    text, count = call.expressions
    if isinstance(unwrapped(count), exp.Literal):
        return fill("SUBSTRING(_1, 1, _2)", text, count)
    template = "SUBSTRING(_1, 1, CASE WHEN _2 >= 0 THEN _2 ELSE GREATEST(LENGTH(_1) + _2, 0) END)"
    return fill(template, text, count)


def right(call: exp.Anonymous) -> exp.Expr:
    """`right(s, 2)`: the last two characters; a negative number leaves so many out at the start."""
    text, count = call.expressions
    return fill("SUBSTRING(_1, CASE WHEN _2 >= 0 THEN GREATEST(LENGTH(_1) - _2, 0) + 1 ELSE 1 - _2 END)", text, count)


def concat(call: exp.Anonymous) -> exp.Expr:
    """`concat(a, 1)` -> `CONCAT(COALESCE(a, ''), COALESCE(CAST(1 AS STRING), ''))`: NULL counts as nothing."""
    return fill("CONCAT(_all)", *(fill("COALESCE(_1, '')", _shown(one)) for one in call.expressions))


def concat_ws(call: exp.Anonymous) -> exp.Expr:
    """`concat_ws(',', a, b)` -> `CONCAT_WS(',', a, b)`: NULL is left out."""
    separator, *values = call.expressions
    return fill("CONCAT_WS(_all)", separator, *(_shown(one) for one in values))


def _extreme(name: str, symbol: str) -> Callable[[exp.Anonymous], exp.Expr]:
    def build(call: exp.Anonymous) -> exp.Expr:
        if type_of(call) == INTERVAL:
            return extreme_interval(call.expressions, symbol)
        # Spark wants two arguments at least.
        arguments = call.expressions if len(call.expressions) > 1 else call.expressions * 2
        return fill(f"{name}(_all)", *arguments)

    return build


greatest = _extreme("GREATEST", ">")
least = _extreme("LEAST", "<")


def grouping(call: exp.Anonymous) -> exp.Expr:
    """`GROUPING(a, b)` -> `CAST(GROUPING(a) * 2 + GROUPING(b) AS INT)`: one bit for each key."""
    total: exp.Expr | None = None
    for key in call.expressions:
        bit = fill("GROUPING(_1)", key)
        total = bit if total is None else fill("_1 * 2 + _2", total, bit)
    assert total is not None
    return fill("CAST(_1 AS INT)", total)


def _count_where(call: exp.Anonymous, template: str) -> exp.Expr:
    total: exp.Expr = fill(template, call.expressions[0])
    for one in call.expressions[1:]:
        total = fill("_1 + _2", total, fill(template, one))
    return total


def num_nulls(call: exp.Anonymous) -> exp.Expr:
    return _count_where(call, "CASE WHEN _1 IS NULL THEN 1 ELSE 0 END")


def num_nonnulls(call: exp.Anonymous) -> exp.Expr:
    return _count_where(call, "CASE WHEN _1 IS NULL THEN 0 ELSE 1 END")


def encode(call: exp.Anonymous) -> exp.Expr:
    """`encode(b, 'hex')` -> `LOWER(HEX(b))`."""
    return _coded(call, {"hex": "LOWER(HEX(_1))", "base64": "BASE64(_1)"})


def decode(call: exp.Anonymous) -> exp.Expr:
    """`decode('ff', 'hex')` -> `UNHEX('ff')`, with a check before."""
    return _coded(call, {"hex": _FROM_HEX, "base64": "UNBASE64(_1)"})


# Spark gives NULL for what is not hexadecimal.
_FROM_HEX = (
    "CASE WHEN _1 RLIKE '[^0-9a-fA-F\\\\s]' THEN RAISE_ERROR(CONCAT('22023:invalid hexadecimal digit: \"',"
    " REGEXP_EXTRACT(_1, '[^0-9a-fA-F\\\\s]', 0), '\"'))"
    " WHEN LENGTH(REGEXP_REPLACE(_1, '\\\\s', '')) % 2 = 1"
    " THEN RAISE_ERROR('22023:invalid hexadecimal data: odd number of digits')"
    " ELSE UNHEX(REGEXP_REPLACE(_1, '\\\\s', '')) END"
)


def _coded(call: exp.Anonymous, templates: dict[str, str]) -> exp.Expr:
    value, name = call.expressions
    encoding = literal_text(name, "an encoding").lower()
    if encoding not in templates:
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'unrecognized encoding: "{encoding}"')
    return fill(templates[encoding], value)


# -- regular expressions --------------------------------------------------------------------------------------


def java_pattern(pattern: str) -> str:
    r"""A PostgreSQL regular expression in Java's spelling.

    >>> java_pattern(r"\mfoo\M")
    '\\bfoo\\b'
    """
    replacements = {r"\m": r"\b", r"\M": r"\b", r"\y": r"\b", r"\Y": r"\B", r"\A": r"\A", r"\Z": r"\z"}
    changed = re.sub(r"\\.", lambda found: replacements.get(found[0], found[0]), pattern, flags=re.DOTALL)
    for posix, java in _CLASSES.items():
        changed = changed.replace(f"[:{posix}:]", java)
    return changed


_CLASSES = {
    "alpha": r"\p{IsAlphabetic}",
    "digit": r"\p{Digit}",
    "alnum": r"\p{IsAlphabetic}\p{Digit}",
    "space": r"\s",
    "upper": r"\p{Lu}",
    "lower": r"\p{Ll}",
    "punct": r"\p{Punct}",
    "word": r"\w",
}


def with_pattern(template: str) -> Callable[[exp.Anonymous], exp.Expr]:
    """A call whose second argument is a pattern: a literal one is put into Java's spelling."""

    def build(call: exp.Anonymous) -> exp.Expr:
        text, pattern = call.expressions
        bare = unwrapped(pattern)
        if isinstance(bare, exp.Literal) and bare.is_string:
            pattern = exp.Literal.string(java_pattern(bare.this))
        return fill(template, text, pattern)

    return build


def regexp_substring(call: exp.Anonymous) -> exp.Expr:
    """`substring(s from 'o(.)b')`: the first group if there is one, else the whole match, NULL without a match."""
    text, written = call.expressions
    pattern = java_pattern(literal_text(written, "a pattern"))
    group = exp.Literal.number(1 if re.search(r"(?<!\\)\((?!\?)", pattern) else 0)
    literal = exp.Literal.string(pattern)
    return fill("CASE WHEN _1 RLIKE _2 THEN REGEXP_EXTRACT(_1, _2, _3) END", text, literal, group)


def regexp_replace(call: exp.Anonymous) -> exp.Expr:
    """`regexp_replace(s, p, r, 'g')` replaces all matches; without 'g' the text before the first is kept by a group."""
    text, written, replacement, *rest = call.expressions
    flags = literal_text(rest[0], "flags of a regular expression") if rest else ""
    unknown = set(flags) - set("gicsn")
    if unknown:
        message = f'invalid regular expression option: "{min(unknown)}"'
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message)
    pattern = java_pattern(literal_text(written, "a pattern"))
    prefix = "(?i)" if "i" in flags else ""
    every = "g" in flags
    if not every:
        pattern = rf"\A((?s:.*?))(?:{pattern})"
    made = java_replacement(literal_text(replacement, "a replacement"), first_group=1 if every else 2)
    final = made if every else "$1" + made
    return fill("REGEXP_REPLACE(_1, _2, _3)", text, exp.Literal.string(prefix + pattern), exp.Literal.string(final))


def java_replacement(text: str, first_group: int = 1) -> str:
    r"""PostgreSQL's `\1` and `\&` as Java's `$1` and `$0`.

    >>> java_replacement(r"<\1>$")
    '<$1>\\$'
    """

    def replaced(found: re.Match[str]) -> str:
        piece = found[0]
        if piece == "$":
            return "\\$"
        if piece[1:].isdigit():
            return f"${int(piece[1:]) + first_group - 1}"
        return "$0" if piece == "\\&" and first_group == 1 else "\\" + piece[1:]

    return re.sub(r"\\.|\$|\\$", replaced, text, flags=re.DOTALL)


def similar_pattern(pattern: str, escape: str = "\\") -> str:
    """The regular expression of a SIMILAR TO pattern, which must match the whole text.

    >>> similar_pattern("a%_(b|c)")
    '(?s)^(?:a.*.(?:b|c))$'
    """
    made, place = [], 0
    while place < len(pattern):
        letter = pattern[place]
        if escape and letter == escape and place + 1 < len(pattern):
            place += 1
            made.append(re.escape(pattern[place]))
        elif letter == "%":
            made.append(".*")
        elif letter == "_":
            made.append(".")
        elif letter == "(":
            made.append("(?:")
        elif letter in ".^$\\":
            made.append("\\" + letter)
        else:
            made.append(letter)
        place += 1
    return f"(?s)^(?:{''.join(made)})$"


def like_pattern(pattern: str, escape: str = "\\") -> str:
    r"""A LIKE pattern with escapes that Spark accepts: a backslash, and only where it is needed.

    >>> like_pattern("10!%_", "!"), like_pattern(r"\a")
    ('10\\%_', 'a')
    """
    made, place = [], 0
    while place < len(pattern):
        letter = pattern[place]
        if escape and letter == escape:
            place += 1
            if place == len(pattern):
                sqlstate, message = SqlState.INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character"
                raise MillpondError(sqlstate, message)
            letter = pattern[place]
            made.append("\\" + letter if letter in "%_\\" else letter)
        else:
            made.append("\\\\" if letter == "\\" else letter)
        place += 1
    return "".join(made)
