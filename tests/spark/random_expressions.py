"""Random expressions of a wanted type, from a table of rules; the columns are those of `random_tables`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

RULES = """
int = {int} + {int} | {int} - {int} | {int} * {few} | {int} / {int} | {int} % {int} | -{int} | abs({int})
int = mod({int}, {int})
int = {int} & {int} | {int} \\| {int} | {int} # {int} | ~{int} | {int} << {few} | {int} >> {few}
int = length({text}) | octet_length({text}) | strpos({text}, {text}) | position({text} in {text}) | ascii({text})
int = {date} - {date} | {num}::int | {dbl}::int | {bool}::int | {small} + {int} | length({bytea})
int = char_length({text})
int = coalesce({int}, {int}) | nullif({int}, {int}) | greatest({int}, {int}, {int}) | least({int}, {int})
int = CASE WHEN {bool} THEN {int} ELSE {int} END | CASE {int} WHEN {int} THEN {int} END
int = num_nulls({int}, {text}, {bool})
int = bit_length({text}) | {big}::int | regexp_count({text}, {regex})
int = CASE WHEN {bool} THEN {int} WHEN {bool} THEN {int} END
small = {small} + {small} | {small} / {small} | {small} % {small} | -{small} | {int}::smallint
small = coalesce({small}, {small})
big = {big} + {big} | {big} - {int} | {big} * {few} | {big} / {big} | {big} % {int} | -{big} | abs({big})
big = {int}::bigint
big = {num}::bigint | {dbl}::bigint | coalesce({big}, {int}) | greatest({big}, {int}) | {big} & {big} | {big} << {few}
num = {num} + {num} | {num} - {num} | {num} * {num} | {num} / {num} | {num} % {num} | -{num} | abs({num})
num = {num} + {int}
num = {int} / {num} | {num} * {int} | round({num}) | round({num}, {few}) | trunc({num}) | trunc({num}, {few})
num = ceil({num})
num = floor({num}) | sign({num}) | mod({num}, {num}) | {int}::numeric | {text_num}::numeric | {num}::numeric(20,4)
num = coalesce({num}, {int}) | greatest({num}, {num}) | CASE WHEN {bool} THEN {num} ELSE {int} END | {big} * 1.5
num = extract({field} from {ts}) | extract({field} from {tz}) | extract({dfield} from {date})
num = extract({ifield} from {iv})
num = extract(epoch from {ts}) | div({num}, {num}) | {big}::numeric + {num} | extract(epoch from {ts} - {ts})
num = nullif({num}, {num})
num = power({num}, {few}) | {num} ^ {few} | sqrt(abs({num})) | round({dbl!}::numeric, {few})
dbl = {dbl} + {dbl} | {dbl} - {dbl} | {dbl} * {dbl} | {dbl} / {dbl} | -{dbl} | abs({dbl}) | {dbl} + {int}
dbl = {dbl} * {num}
dbl = round({dbl}) | trunc({dbl}) | ceil({dbl}) | floor({dbl}) | sign({dbl}) | sqrt(abs({dbl})) | cbrt({dbl})
dbl = exp({dbl} / 100)
dbl = ln(abs({dbl}) + 1) | log(abs({dbl}) + 1) | sin({dbl}) | cos({dbl}) | tan({dbl}) | atan({dbl})
dbl = atan2({dbl}, {dbl}) | pi()
dbl = degrees({dbl}) | radians({dbl}) | power({dbl}, {few}) | {int}::float8 | {num}::float8 | coalesce({dbl}, {num})
dbl = greatest({dbl}, {dbl}) | least({dbl}, {dbl}) | date_part('{field}', {ts}) | date_part('{ifield}', {iv})
dbl = {real} + {dbl}
dbl = CASE WHEN {bool} THEN {dbl} ELSE {int} END | nullif({dbl}, {dbl}) | {text_num}::float8 | sinh({dbl} / 100)
dbl = {real} * {int}
real = {real} + {real} | {real} * {real} | -{real} | abs({real}) | {int}::real | {dbl}::real
real = coalesce({real}, {real})
bool = {int} {cmp} {int} | {int} {cmp} {num} | {num} {cmp} {num} | {dbl} {cmp} {dbl} | {dbl} {cmp} {int}
bool = {text} {cmp} {text}
bool = {date} {cmp} {date} | {ts} {cmp} {ts} | {tz} {cmp} {tz} | {iv} {cmp} {iv} | {bytea} {cmp} {bytea}
bool = {bool} {cmp} {bool}
bool = {date} {cmp} {ts} | {small} {cmp} {big} | {real} {cmp} {dbl} | {real} {cmp} {real} | {code} {cmp} {code}
bool = {code} {cmp} {string}
bool = {bool} AND {bool} | {bool} OR {bool} | NOT {bool} | {bool} IS TRUE | {bool} IS NOT FALSE | {bool} IS UNKNOWN
bool = {int} IS NULL | {text} IS NOT NULL | {int} IS DISTINCT FROM {int} | {text} IS NOT DISTINCT FROM {text}
bool = {int} IN ({int}, {int}, NULL) | {text} IN ({text}, {string}) | {int} NOT IN ({int}, {few})
bool = {num} IN ({num}, {int})
bool = {int} BETWEEN {int} AND {int} | {num} NOT BETWEEN {num} AND {num} | {int} BETWEEN SYMMETRIC {int} AND {int}
bool = {text} LIKE {like} | {text} NOT LIKE {like} | {text} ILIKE {like} | {text} ~ {regex} | {text} ~* {regex}
bool = {text} !~ {regex}
bool = {text} SIMILAR TO {similar} | starts_with({text}, {string}) | ({int}, {text}) = ({int}, {text})
bool = ({int}, {num}) < ({int}, {num})
bool = {int} = ANY (ARRAY[{int}, {int}]) | {int} > ALL (ARRAY[{int}, {few}]) | coalesce({bool}, {bool})
bool = {int}::boolean
bool = CASE WHEN {bool} THEN {bool} END | {code} LIKE {like} | ({int}, {bool}) IN (({int}, {bool}), ({few}, {bool}))
text = {text} || {text} | {text} || {int} | {num} || {text} | {text} || {bool} | {text} || {date} | {text} || {ts}
text = {text} || {dbl!}
text = upper({text}) | lower({text}) | initcap({text}) | reverse({text}) | trim({text}) | ltrim({text})
text = rtrim({text}, {string})
text = substring({text}, {few}) | substring({text}, {few}, {few}) | substring({text} from {few} for {few})
text = left({text}, {few})
text = left({text}, -{few}) | right({text}, {few}) | right({text}, -{few}) | lpad({text}, {few}, {string})
text = rpad({text}, {few})
text = replace({text}, {string}, {string}) | translate({text}, {string}, {string}) | repeat({text}, {few})
text = split_part({text}, {letter}, {one})
text = overlay({text} placing {string} from {one}) | concat({text}, {int}, {bool}, {num})
text = concat_ws({letter}, {text}, {int}, {text})
text = coalesce({text}, {string}) | nullif({text}, {text}) | greatest({text}, {text}) | least({text}, {text}, {text})
text = md5({text})
text = {int}::text | {num}::text | {dbl!}::text | {bool}::text | {date}::text | {ts}::text | {tz}::text | {iv}::text
text = {real!}::text
text = CASE WHEN {bool} THEN {text} ELSE {string} END | trim(both {string} from {text}) | encode({bytea}, 'hex')
text = {bytea}::text
text = to_char({ts}, '{format}') | to_char({date}, 'YYYY-MM-DD') | regexp_replace({text}, {regex}, {string}, 'g')
text = {code}::text
text = regexp_replace({text}, {regex}, {string}) | substring({text} from {regex}) | chr(ascii({text}) % 90 + 33)
text = to_hex({int}) | {code} || {text}
text = {text}::varchar(3)::text | {text}::char(4)::text | {varchar} || {text} | btrim({text}, {string})
text = {small}::text | to_hex({big})
date = {date} + {few} | {date} - {few} | {ts}::date | {tz}::date | coalesce({date}, {date}) | greatest({date}, {date})
date = {text_date}::date
date = CASE WHEN {bool} THEN {date} ELSE {date} END | make_date(2000 + {few}, {one}, {one}) | nullif({date}, {date})
ts = {ts} + {iv} | {ts} - {iv} | {date} + {iv} | {date}::timestamp | {tz}::timestamp | date_trunc('{trunc}', {ts})
ts = coalesce({ts}, {ts})
ts = {tz} AT TIME ZONE '{zone}' | greatest({ts}, {ts}) | least({ts}, {date}) | {text_ts}::timestamp | {iv} + {ts}
ts = date_bin('15 minutes', {ts}, timestamp '2001-01-01') | CASE WHEN {bool} THEN {ts} ELSE {date} END
tz = {tz} + {iv} | {tz} - {iv} | {ts}::timestamptz | {ts} AT TIME ZONE '{zone}' | date_trunc('{trunc}', {tz})
tz = coalesce({tz}, {tz})
tz = {date}::timestamptz | to_timestamp({int}) | greatest({tz}, {tz})
iv = {ts} - {ts} | {tz} - {tz} | {iv} + {iv} | {iv} - {iv} | {iv} * {few} | -{iv} | coalesce({iv}, {iv})
iv = {iv} / {one}
iv = make_interval(0, 0, 0, {few}, {few}, 0, 0.0) | CASE WHEN {bool} THEN {iv} ELSE {iv} END | greatest({iv}, {iv})
bytea = decode({hex}, 'hex') | coalesce({bytea}, {bytea}) | {bytea} || {bytea}
code = coalesce({code}, {code}) | {text}::char(3)
varchar = {text}::varchar(4) | coalesce({varchar}, {varchar})
"""
"""Rules by result type; alternatives are separated by bars, and what stands in braces is made by another rule."""

LITERALS: Mapping[str, Sequence[str]] = {
    "int": ("0", "1", "-1", "7", "42", "1000", "-13", "NULL::int", "'5'::int"),
    "few": ("0", "1", "2", "3", "5"),
    "one": ("1", "2", "3"),
    "small": ("1::smallint", "-3::smallint", "NULL::smallint"),
    "big": ("5000000000", "-7000000000", "3::bigint", "NULL::bigint"),
    "num": ("0.5", "-1.25", "3.0", "100.001", "1e3", "0.000", "NULL::numeric", "12.34::numeric(6,2)"),
    "dbl": ("1.5::float8", "-2.5::float8", "1e4::float8", "0::float8", "NULL::float8", "0.1::float8", "'NaN'::float8"),
    "real": ("1.5::real", "-0.25::real", "NULL::real"),
    "bool": ("true", "false", "NULL::boolean"),
    "text": (
        "'abc'::text",
        "''::text",
        "'Hello World'::text",
        "NULL::text",
        "'it''s'::text",
        "'a\\b'::text",
        "' x '::text",
        "'ünï'::text",
    ),
    "string": ("'a'", "'x'", "'lo'", "'ab'", "'%'", "'é'", "' '"),
    "letter": ("'a'", "','", "' '", "'l'"),
    "text_num": ("'12.5'", "' 7 '", "'-1e2'"),
    "text_date": ("'2024-02-29'", "'1999-12-31'"),
    "text_ts": ("'2024-02-29 12:30:00'", "'1969-07-20T20:17:40.5'"),
    "hex": ("'00ff'", "'616263'", "''"),
    "like": ("'a%'", "'%b%'", "'_b_'", "'%'", "''", "'a\\%'", "'%e'", "'A_%'"),
    "regex": ("'a'", "'^a.*'", "'[a-c]+'", "'o|l'", "'(b)(c)'", "'\\d'", "'x?'", "'e$'", "'\\s+'", "'[[:alpha:]]'"),
    "similar": ("'a%'", "'(a|b)%'", "'%[a-m]_'", "'a+'"),
    "cmp": ("=", "<>", "<", "<=", ">", ">="),
    "field": (
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "dow",
        "isodow",
        "doy",
        "week",
        "quarter",
        "isoyear",
        "decade",
        "century",
    ),
    "dfield": (
        "year",
        "month",
        "day",
        "dow",
        "isodow",
        "doy",
        "week",
        "quarter",
        "isoyear",
        "epoch",
        "century",
        "millennium",
    ),
    "ifield": ("year", "month", "day", "hour", "minute", "second", "epoch"),
    "trunc": ("second", "minute", "hour", "day", "week", "month", "quarter", "year"),
    "zone": ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"),
    "format": ("YYYY-MM-DD HH24:MI:SS", "FMMonth DD, YYYY", "Dy DD Mon YY", "HH12:MI AM", "IYYY-IW", "MS US", "DDD Q"),
    "date": ("date '2024-02-29'", "date '2000-01-01'", "date '1969-12-31'", "NULL::date"),
    "ts": (
        "timestamp '2024-03-31 02:30:00'",
        "timestamp '1970-01-01'",
        "timestamp '2001-02-03 04:05:06.789'",
        "NULL::timestamp",
    ),
    "tz": ("timestamptz '2024-03-31 02:30:00+00'", "timestamptz '2000-01-01 00:00:00+05'", "NULL::timestamptz"),
    "iv": (
        "interval '1 day'",
        "interval '2 hours 30 minutes'",
        "interval '1 month'",
        "interval '-3 days 04:05:06'",
        "interval '1 year 2 months 3 days'",
        "NULL::interval",
    ),
    "bytea": ("'\\x00ff'::bytea", "'abc'::bytea", "NULL::bytea"),
    "code": ("'ab'::char(3)", "NULL::char(3)"),
    "varchar": ("'abc'::varchar(10)", "NULL::varchar(4)"),
}

TYPES = tuple("int small big num dbl real bool text date ts tz iv bytea code varchar".split())
"""The kinds of values that an expression may have."""

_SLOT = re.compile(r"\{(\w+)(!?)\}")
"""A part of a rule; an exclamation mark asks for a column or a literal, as the last digit of a sine may differ."""


def _alternatives() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in RULES.strip().splitlines():
        kind, _, body = line.partition(" = ")
        found.setdefault(kind, []).extend(
            part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)(?<!\|)\|(?!\|)", body)
        )
    return found


_ALTERNATIVES = _alternatives()

_RISKY = re.compile(r" [/%*^] |<<|mod\(|div\(|chr\(|power|exp\(|sinh|::(int|bigint|smallint|real)\b|^-|small}$")
"""Rules whose results may leave the range of their type, or that divide."""

_SAFE = {kind: [rule for rule in rules if not _RISKY.search(rule)] for kind, rules in _ALTERNATIVES.items()}


_BARE_SHARE = 0.1
"""How often an operand stands without parentheses: which operator binds tighter is part of the question."""


def expression(
    random: Random, kind: str, columns: Mapping[str, Sequence[str]], depth: int, *, safe: bool = False
) -> str:
    """An expression of the kind over the columns, which are listed by their kinds; a safe one has a value for all."""
    choices = (_SAFE if safe else _ALTERNATIVES).get(kind)
    if depth > 0 and choices is not None:
        template = random.choice(choices)
        return _SLOT.sub(
            lambda slot: _operand(random, slot[1], columns, 0 if slot[2] else depth - 1, safe=safe), template
        )
    offered = columns.get(kind, ())
    return random.choice(offered) if offered and random.random() < 0.7 else random.choice(LITERALS[kind])


def _operand(random: Random, kind: str, columns: Mapping[str, Sequence[str]], depth: int, *, safe: bool) -> str:
    """Part of an expression: in parentheses where it is one itself."""
    if kind not in _ALTERNATIVES:
        return random.choice(LITERALS[kind])
    made = expression(random, kind, columns, depth if random.random() < 0.6 else 0, safe=safe)
    plain = re.fullmatch(r"[\w.]+", made) or random.random() < _BARE_SHARE
    return made if plain else f"({made})"
