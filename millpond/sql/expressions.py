"""Binding of scalar expressions: literals, columns, casts, CASE and PostgreSQL's special syntax.

`RULES` is the whole list of node kinds an expression may consist of: what is not in it is refused.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import aggregate_calls, arrays, calls, operators, predicates
from millpond.sql.coercion import coerce, common_type, constant, explicit_cast, number_literal
from millpond.sql.context import Context, Rule
from millpond.sql.nodes import error, place_of, placed, position_of, type_of, typed
from millpond.sql.operators import comparable
from millpond.sql.parameters import OPEN
from millpond.sql.sql_types import UNKNOWN, to_sql_type, type_name
from millpond.sql.time_functions import can_extract
from millpond.types import BIGINT, BOOLEAN, DATE, INTEGER, INTERVAL, TEXT, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from millpond.values.numbers import INTEGER_RANGES


def _literal(node: exp.Expr, _context: Context) -> exp.Expr:
    """A quoted literal is of open type; a number is integer, bigint or numeric by its size."""
    if node.args["is_string"]:
        return placed(_open_text(node.this, node), node)
    text = node.this
    if text.isdigit():
        for sql_type in (INTEGER, BIGINT):
            if int(text) <= INTEGER_RANGES[sql_type.name][1]:
                return placed(typed(exp.Literal.number(text), sql_type), node)
    if Decimal(text).adjusted() > 37:
        raise error(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format", node)
    return placed(number_literal(text), node)


def _open_text(text: str, node: exp.Expr) -> exp.Expr:
    if "\0" in text:
        message = 'invalid byte sequence for encoding "UTF8": 0x00'
        raise error(SqlState.INVALID_TEXT_REPRESENTATION, message, node)
    return typed(exp.Literal.string(text), UNKNOWN)


def _string(node: exp.Expr, _context: Context) -> exp.Expr:
    """E'...', $$...$$ and N'...': the parser has already taken the escapes out."""
    return placed(_open_text(node.this, node), node)


def _unicode_string(node: exp.Expr, _context: Context) -> exp.Expr:
    r"""U&'\0041' with its escapes replaced."""
    escape = node.args["escape"].this if node.args.get("escape") else "\\"
    mark = re.escape(escape)
    pattern = rf"{mark}{mark}|{mark}\+([0-9a-fA-F]{{6}})|{mark}([0-9a-fA-F]{{4}})"

    def replaced(found: re.Match[str]) -> str:
        digits = found[1] or found[2]
        return chr(int(digits, 16)) if digits else str(escape)

    try:
        text = re.sub(pattern, replaced, node.this)
        text.encode()
    except (ValueError, UnicodeEncodeError):
        raise error(SqlState.SYNTAX_ERROR, "invalid Unicode escape value", node) from None
    return placed(_open_text(text, node), node)


def _adjacent_strings(node: exp.Expr, _context: Context) -> exp.Expr:
    """'a' 'b', which is 'ab'."""
    return placed(_open_text("".join(part.this for part in node.expressions), node), node)


def _boolean(node: exp.Expr, _context: Context) -> exp.Expr:
    return placed(typed(exp.Boolean(this=bool(node.this)), BOOLEAN), node)


def _null(node: exp.Expr, _context: Context) -> exp.Expr:
    return placed(typed(exp.Null(), UNKNOWN), node)


def _interval(node: exp.Expr, context: Context) -> exp.Expr:
    """`INTERVAL '90' MINUTE`, `INTERVAL '1 day 02:00'`."""
    unit = node.args.get("unit")
    field = (unit.expression if isinstance(unit, exp.IntervalSpan) else unit).name.lower() if unit else None
    text = _open_text(context.bind(node.this).this, node).this
    if field is not None and re.fullmatch(r"\s*[+-]?[0-9.]+\s*", text):
        text = f"{text} {field}"
    return constant(text, INTERVAL, position_of(node))


def _column(node: exp.Expr, context: Context) -> exp.Expr:
    assert isinstance(node, exp.Column)
    if isinstance(node.this, exp.Star):
        raise not_supported("a whole row as a value", hint="Name its columns.", position=position_of(node))
    if not node.args.get("table") and not node.this.args.get("quoted") and node.name.lower() == "user":
        return context.bind(exp.CurrentUser())
    return context.scope.resolve(node)


def _cast(node: exp.Expr, context: Context) -> exp.Expr:
    target = to_sql_type(node.args["to"], position=place_of(node.args["to"]) or position_of(node), arrays=True)
    if node.args.get("format"):
        raise not_supported("CAST ... FORMAT", position=position_of(node))
    if target.is_float and isinstance(node.this, exp.Literal):
        # A literal for a double may have more digits than a numeric holds.
        return constant(node.this.this, target, position_of(node.this))
    operand = context.bind(node.this)
    cast = explicit_cast(operand, target, node)
    return cast if cast is not operand else typed(exp.Paren(this=operand), type_of(operand))


def _case(node: exp.Expr, context: Context) -> exp.Expr:
    """CASE in both forms; `CASE x WHEN 1` becomes `CASE WHEN x = 1`."""
    operand = context.bind(node.this) if node.this else None
    conditions = [_when(branch.this, operand, context) for branch in node.args["ifs"]]
    results = [context.bind(branch.args["true"]) for branch in node.args["ifs"]]
    default = context.bind(node.args["default"]) if node.args.get("default") else None
    # PostgreSQL looks at ELSE first.
    every = results if default is None else [default, *results]
    target = _common(every, "CASE")
    branches = [
        exp.If(this=condition, true=coerce(result, target))
        for condition, result in zip(conditions, results, strict=True)
    ]
    made = exp.Case(ifs=branches, default=coerce(default, target) if default is not None else None)
    return typed(made, target)


def _when(written: exp.Expr, operand: exp.Expr | None, context: Context) -> exp.Expr:
    if operand is None:
        return context.condition(written, "CASE/WHEN")
    left, right = comparable(exp.EQ(this=operand), operand, context.bind(written))
    return typed(exp.EQ(this=left.copy(), expression=right), BOOLEAN)


def _common(branches: list[exp.Expr], construct: str) -> SqlType:
    first = type_of(branches[0])
    found = common_type([type_of(branch) for branch in branches])
    if found is None:
        odd = next(branch for branch in branches if common_type([first, type_of(branch)]) is None)
        message = f"{construct} types {type_name(first)} and {type_name(type_of(odd))} cannot be matched"
        raise error(SqlState.DATATYPE_MISMATCH, message, odd)
    return found


_EXTRACT_TYPES = {"epoch": numeric(20, 6), "second": numeric(8, 6), "julian": numeric(20, 10)}
_EXTRACT_TYPES |= {"milliseconds": numeric(11, 3), "microseconds": numeric(11, 0)}
EXTRACT_FIELDS = frozenset(
    "century day decade dow doy epoch hour isodow isoyear julian microseconds millennium milliseconds minute month"
    " quarter second week year timezone timezone_hour timezone_minute".split()
)


def _extract(node: exp.Expr, context: Context) -> exp.Expr:
    """`EXTRACT(field FROM source)`, numeric since PostgreSQL 14."""
    field = node.this.name.lower()
    source = context.bind(node.expression)
    if type_of(source) == UNKNOWN:
        source = coerce(source, TIMESTAMPTZ)
    if type_of(source) not in (DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL):
        message = f"function pg_catalog.extract(unknown, {type_name(type_of(source))}) does not exist"
        hint = "No function matches the given name and argument types. You might need to add explicit type casts."
        raise error(SqlState.UNDEFINED_FUNCTION, message, node, hint=hint)
    if field not in EXTRACT_FIELDS:
        message = f'unit "{field}" not recognized for type {type_of(source)}'
        raise error(SqlState.INVALID_PARAMETER_VALUE, message, node)
    if not can_extract(field, type_of(source)):
        raise error(SqlState.FEATURE_NOT_SUPPORTED, f'unit "{field}" not supported for type {type_of(source)}', node)
    made = exp.Extract(this=exp.Var(this=field), expression=source)
    return typed(made, _EXTRACT_TYPES.get(field, numeric(10, 0)))


def _at_time_zone(node: exp.Expr, context: Context) -> exp.Expr:
    """A timestamp read in a zone, or an instant shown in one."""
    operand, zone = context.bind(node.this), coerce(context.bind(node.args["zone"]), TEXT)
    if type_of(operand) in (UNKNOWN, DATE):
        operand = coerce(operand, TIMESTAMPTZ)
    results = {TIMESTAMP: TIMESTAMPTZ, TIMESTAMPTZ: TIMESTAMP}
    if type_of(operand) not in results:
        message = f"function pg_catalog.timezone(unknown, {type_name(type_of(operand))}) does not exist"
        raise error(SqlState.UNDEFINED_FUNCTION, message, node)
    return typed(exp.AtTimeZone(this=operand, zone=zone), results[type_of(operand)])


def _special_call(name: str, *keys: str) -> Rule:
    """A function with a grammar of its own, as the plain call it stands for."""

    def rule(node: exp.Expr, context: Context) -> exp.Expr:
        arguments = [node.args[key].copy() for key in keys if node.args.get(key) is not None]
        return context.bind(placed(exp.Anonymous(this=name, expressions=arguments), node))

    return rule


def _substring(node: exp.Expr, context: Context) -> exp.Expr:
    start = node.args.get("start")
    if start is None:
        start = exp.Literal.number(1)
    parts = [node.this, start, node.args.get("length")]
    arguments = [part.copy() for part in parts if part is not None]
    return context.bind(placed(exp.Anonymous(this="substring", expressions=arguments), node))


def _trim(node: exp.Expr, context: Context) -> exp.Expr:
    """TRIM(BOTH 'x' FROM y) and its kin, as btrim, ltrim and rtrim."""
    side = str(node.args.get("position") or "BOTH").upper()
    name = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side]
    return _special_call(name, "this", "expression")(node, context)


def _session_value(name: str) -> Rule:
    """A value that PostgreSQL writes without parentheses, such as CURRENT_DATE."""

    def rule(_node: exp.Expr, context: Context) -> exp.Expr:
        return context.bind(exp.Anonymous(this=name))

    return rule


def _collate(node: exp.Expr, context: Context) -> exp.Expr:
    """Text compares by code point; naming that order changes nothing, another is refused."""
    collation = node.expression.name
    if collation not in ("C", "POSIX", "default", "ucs_basic"):
        raise not_supported(f'collation "{collation}"', hint='Use "C".', position=position_of(node))
    operand = coerce(context.bind(node.this), TEXT)
    return typed(exp.Paren(this=operand), type_of(operand))


def _parameter(node: exp.Expr, _context: Context) -> exp.Expr:
    if node.meta.get(OPEN):
        return typed(node.copy(), UNKNOWN)
    name = node.this.name if isinstance(node.this, exp.Expr) else str(node.this or "")
    position = position_of(node)
    # The place that the parser knows is that of the number; the error points at the dollar before it.
    raise MillpondError(
        SqlState.UNDEFINED_PARAMETER, f"there is no parameter ${name}", position=position - 1 if position else None
    )


def _star(node: exp.Expr, _context: Context) -> exp.Expr:
    raise error(SqlState.SYNTAX_ERROR, 'syntax error at or near "*"', node)


def _alias(node: exp.Expr, _context: Context) -> exp.Expr:
    raise error(SqlState.SYNTAX_ERROR, f'syntax error at or near "{node.alias}"', node)


RULES: dict[type[exp.Expr], Rule] = {
    **operators.RULES,
    **predicates.RULES,
    **aggregate_calls.RULES,
    **arrays.RULES,
    **calls.RULES,
    exp.Literal: _literal,
    exp.ByteString: _string,
    exp.RawString: _string,
    exp.National: _string,
    exp.UnicodeString: _unicode_string,
    exp.Concat: _adjacent_strings,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Interval: _interval,
    exp.Column: _column,
    exp.Cast: _cast,
    exp.Case: _case,
    exp.Extract: _extract,
    exp.AtTimeZone: _at_time_zone,
    exp.Substring: _substring,
    exp.Trim: _trim,
    exp.StrPosition: _special_call("strpos", "this", "substr"),
    exp.Overlay: _special_call("overlay", "this", "expression", "from_", "for_"),
    exp.CurrentDate: _session_value("current_date"),
    exp.CurrentTimestamp: _session_value("current_timestamp"),
    exp.Localtimestamp: _session_value("localtimestamp"),
    exp.CurrentUser: _session_value("current_user"),
    exp.CurrentRole: _session_value("current_role"),
    exp.SessionUser: _session_value("session_user"),
    exp.CurrentSchema: _session_value("current_schema"),
    exp.CurrentCatalog: _session_value("current_catalog"),
    exp.Collate: _collate,
    exp.Parameter: _parameter,
    exp.Placeholder: _parameter,
    exp.Star: _star,
    exp.Alias: _alias,
}
