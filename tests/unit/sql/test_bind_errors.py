"""Mistakes in queries, in PostgreSQL's words, with SQLSTATE and the place in the text."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from tests.unit.sql.catalog import bound

# Query with ^ in front of the place that the error points at (none: no place), SQLSTATE, message.
CASES: tuple[tuple[str, str, str], ...] = (
    ("select * from ^nope", "42P01", 'relation "nope" does not exist'),
    ("select * from ^tt", "42P01", 'relation "tt" does not exist'),
    ("select ^nope from t", "42703", 'column "nope" does not exist'),
    ("select ^t.nope from t", "42703", "column t.nope does not exist"),
    ("select ^t.bb from t", "42703", "column t.bb does not exist"),
    ("select ^bb from t", "42703", 'column "bb" does not exist'),
    ("select ^u.a from t", "42P01", 'missing FROM-clause entry for table "u"'),
    ("select ^t.a from t x", "42P01", 'invalid reference to FROM-clause entry for table "t"'),
    ("select ^a from t, s", "42702", 'column reference "a" is ambiguous'),
    ("select t.a from t, ^t", "42712", 'table name "t" specified more than once'),
    (
        "select a from t join s using (^b)",
        "42703",
        'column "b" specified in USING clause does not exist in right table',
    ),
    (
        "select a from t join s using (^nope)",
        "42703",
        'column "nope" specified in USING clause does not exist in left table',
    ),
    ("select ^foo(a) from t", "42883", "function foo(integer) does not exist"),
    ("select ^lower(a) from t", "42883", "function lower(integer) does not exist"),
    ("select ^abs(b) from t", "42883", "function abs(text) does not exist"),
    ("select a ^+ true from t", "42883", "operator does not exist: integer + boolean"),
    ("select a ^+ b from t", "42883", "operator does not exist: integer + text"),
    ("select b ^+ b from t", "42883", "operator does not exist: text + text"),
    ("select not ^a from t", "42804", "argument of NOT must be type boolean, not type integer"),
    ("select ^a and true from t", "42804", "argument of AND must be type boolean, not type integer"),
    ("select a from t where ^a", "42804", "argument of WHERE must be type boolean, not type integer"),
    ("select a from t where ^'x'", "22P02", 'invalid input syntax for type boolean: "x"'),
    ("select a from t having ^a", "42804", "argument of HAVING must be type boolean, not type integer"),
    (
        "select ^a, count(*) from t",
        "42803",
        'column "t.a" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    (
        "select ^a from t group by b",
        "42803",
        'column "t.a" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    (
        "select b, ^a + 1 from t group by b",
        "42803",
        'column "t.a" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    ("select count(*) from t where ^count(*) > 1", "42803", "aggregate functions are not allowed in WHERE"),
    ("select count(*) from t group by ^count(*)", "42803", "aggregate functions are not allowed in GROUP BY"),
    ("select sum(^sum(a)) from t", "42803", "aggregate function calls cannot be nested"),
    (
        "select sum(^row_number() over ()) from t",
        "42803",
        "aggregate function calls cannot contain window function calls",
    ),
    ("select a from t where ^row_number() over () = 1", "42P20", "window functions are not allowed in WHERE"),
    ("select ^row_number() from t", "42809", "window function row_number requires an OVER clause"),
    (
        "select ^lower(b) over () from t",
        "42809",
        "OVER specified, but lower is not a window function nor an aggregate function",
    ),
    ("select a from t group by ^5", "42P10", "GROUP BY position 5 is not in select list"),
    ("select a from t order by ^5", "42P10", "ORDER BY position 5 is not in select list"),
    ("select a from t order by ^'x'", "42601", "non-integer constant in ORDER BY"),
    ("select a from t order by ^nope", "42703", 'column "nope" does not exist'),
    ("select a from t limit ^'x'", "22P02", 'invalid input syntax for type bigint: "x"'),
    ("select a from t limit ^a", "42P10", "argument of LIMIT must not contain variables"),
    ("select a from t limit -^1", "2201W", "LIMIT must not be negative"),
    ("select (select ^a, b from t)", "42601", "subquery must return only one column"),
    ("select a from t where a ^in (select a, b from t)", "42601", "subquery has too many columns"),
    ("select 1 union select ^1, 2", "42601", "each UNION query must have the same number of columns"),
    ("select 1 union select ^true", "42804", "UNION types integer and boolean cannot be matched"),
    ("select 1 union select 2 order by ^a + 1", "0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause"),
    ("select 1 as x union select 2 order by ^y", "42703", 'column "y" does not exist'),
    ("values (1), (^2, 3)", "42601", "VALUES lists must all be the same length"),
    ("values (1), (^true)", "42804", "VALUES types integer and boolean cannot be matched"),
    ("select case when a = 1 then 1 else ^'x' end from t", "22P02", 'invalid input syntax for type integer: "x"'),
    ("select case when ^a then 1 end from t", "42804", "argument of CASE/WHEN must be type boolean, not type integer"),
    ("select case when true then ^1 else true end", "42804", "CASE types boolean and integer cannot be matched"),
    ("select coalesce(a, ^b) from t", "42804", "COALESCE types integer and text cannot be matched"),
    ("select greatest(1, ^true)", "42804", "GREATEST types integer and boolean cannot be matched"),
    ("select a ^= b from t", "42883", "operator does not exist: integer = text"),
    ("select d ^> 5 from t", "42883", "operator does not exist: date > integer"),
    ("select a = ^'x' from t", "22P02", 'invalid input syntax for type integer: "x"'),
    ("select d = ^'2024-13-01' from t", "22008", 'date/time field value out of range: "2024-13-01"'),
    ("select d = ^'junk' from t", "22007", 'invalid input syntax for type date: "junk"'),
    ("select '1'::^foo", "42704", 'type "foo" does not exist'),
    ("select '1'::^json", "0A000", "type json is not supported"),
    ("select '1'::^uuid", "0A000", "type uuid is not supported"),
    ("select ^'{1,x}'::int[]", "22P02", 'invalid input syntax for type integer: "x"'),
    ("select a^::date from t", "42846", "cannot cast type integer to date"),
    ("select true^::date", "42846", "cannot cast type boolean to date"),
    ("select f^::boolean from t", "42846", "cannot cast type double precision to boolean"),
    ("select x^::boolean from t", "42846", "cannot cast type bigint to boolean"),
    ("select b ^like 5 from t", "42883", "operator does not exist: text ~~ integer"),
    ("select a ^like 'x' from t", "42883", "operator does not exist: integer ~~ unknown"),
    ("select a between ^'x' and 5 from t", "22P02", 'invalid input syntax for type integer: "x"'),
    ("select ^a is true from t", "42804", "argument of IS TRUE must be type boolean, not type integer"),
    ("select ^extract(foo from d) from t", "22023", 'unit "foo" not recognized for type date'),
    ("select ^extract(year from a) from t", "42883", "function pg_catalog.extract(unknown, integer) does not exist"),
    ("select interval ^'nonsense'", "22007", 'invalid input syntax for type interval: "nonsense"'),
    ("select d ^+ x from t", "42883", "operator does not exist: date + bigint"),
    ("select d ^+ d from t", "42883", "operator does not exist: date + date"),
    ("select ^- b from t", "42883", "operator does not exist: - text"),
    ("select count(distinct ^*) from t", "42601", 'syntax error at or near "*"'),
    ("select ^sum(*) from t", "42883", "function sum() does not exist"),
    ("select ^string_agg(b) from t", "42883", "function string_agg(text) does not exist"),
    (
        "select distinct a from t order by ^b",
        "42P10",
        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
    ),
    (
        "select distinct on (^a) a, b from t order by b",
        "42P10",
        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
    ),
    ("select a from t window w as (order by a), ^w as (order by b)", "42P20", 'window "w" is already defined'),
    ("select sum(a) over ^nope from t", "42704", 'window "nope" does not exist'),
    ("select * from (select 1) a, (select ^2) a", "42712", 'table name "a" specified more than once'),
    (
        "select * from ^t as q(a1, a2, a3, a4, a5, a6, a7, a8, a9)",
        "42P10",
        'table "q" has 8 columns available but 9 columns specified',
    ),
    ("with c as (select 1), ^c as (select 2) select 1", "42712", 'WITH query name "c" specified more than once'),
    (
        "with ^c(a, b) as (select 1) select * from c",
        "42P10",
        'WITH query "c" has 1 columns available but 2 columns specified',
    ),
    ("select ^*", "42601", "SELECT * with no tables specified is not valid"),
    ("select ^x.* from t", "42P01", 'missing FROM-clause entry for table "x"'),
    ("select ^$1", "42P02", "there is no parameter $1"),
    ("select count(*) filter (where ^count(*) > 1) from t", "42803", "aggregate functions are not allowed in FILTER"),
    (
        "select ^lower(b) filter (where true) from t",
        "42809",
        "FILTER specified, but lower is not an aggregate function",
    ),
    ("select ^percentile_cont(0.5) from t", "42883", "function percentile_cont(numeric) does not exist"),
    ("select ^lower(distinct b) from t", "42809", "DISTINCT specified, but lower is not an aggregate function"),
    ("select ^a[1] from t", "42804", "cannot subscript type integer because it does not support subscripting"),
    ("select (array[1, 2])[^'x'::text]", "42804", "array subscript must have type integer"),
    ("select (array[^1, 2])[1:2]", "0A000", "a slice of an array is not supported"),
    ("select array[]", "42P18", "cannot determine type of empty array"),
    ("select array[1, ^true]", "42804", "ARRAY types integer and boolean cannot be matched"),
    ("select array[array[^1]]", "0A000", "an array of arrays is not supported"),
    ("select ^array_agg(array[a]) from t", "0A000", "an array of arrays is not supported"),
    ("select ^array_agg(ts - ts) from t", "0A000", "an array of intervals is not supported"),
    ("select ^array_agg(a, b) from t", "42883", "function array_agg(integer, text) does not exist"),
    ("select array[1] ^< array[2]", "0A000", "the order of arrays is not supported"),
    ("select array[1] ^|| array[2]", "0A000", "the concatenation of arrays is not supported"),
    ("select array[1] = ^'{x}'", "22P02", 'invalid input syntax for type integer: "x"'),
    ("select array_agg(a) x from t order by ^x", "0A000", "ordering by an array is not supported"),
    ("select ^unnest(array[1])", "0A000", "the function unnest is not supported"),
    (
        "select ^string_agg(b, ',' order by a) over () from t",
        "0A000",
        "aggregate ORDER BY is not implemented for window functions",
    ),
    (
        "select ^percentile_disc(0.5) within group (order by a) over () from t",
        "0A000",
        "OVER is not supported for ordered-set aggregate percentile_disc",
    ),
    (
        "select percentile_disc(-^0.5) within group (order by a) from t",
        "22003",
        "percentile value -0.5 is not between 0 and 1",
    ),
    ("select ^first(a) from t", "0A000", "first is not supported where rows have no order of arrival"),
    ("select ^last(s.a) from s, s s2", "0A000", "last is not supported where rows have no order of arrival"),
    (
        "select ^first(a) from (select a from s) q",
        "0A000",
        "first is not supported where rows have no order of arrival",
    ),
    ("select ^last(a order by c) from s", "0A000", "last with ORDER BY is not supported"),
    ("select ^first(a, tid) from s", "42883", "function first(integer, bigint) does not exist"),
    (
        "select ^name, count(*) from p group by rollup (id)",
        "42803",
        'column "p.name" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    ("select ^t from t", "0A000", "a whole row as a value is not supported"),
    ("select (a, b) ^= (1, 2, 3) from t", "42601", "unequal number of entries in row expressions"),
    ("select * from ^generate_series('a', 'b')", "42883", "function generate_series(unknown, unknown) does not exist"),
    ("select * from ^nofunc(1)", "0A000", "the function nofunc in FROM is not supported"),
    ("select ^a from t for update", "0A000", "FOR UPDATE is not supported"),
    ("select ^a into x from t", "0A000", "SELECT INTO is not supported"),
    ("select * from ^t tablesample bernoulli (10)", "0A000", "this option of a table in FROM is not supported"),
    ('select ^b collate "de_DE" from t', "0A000", 'collation "de_DE" is not supported'),
    ("select 1 from t where exists (select ^nope from s)", "42703", 'column "nope" does not exist'),
    ("select numeric ^'12x'", "22P02", 'invalid input syntax for type numeric: "12x"'),
    ("select ^'10000000000'::int", "22003", 'value "10000000000" is out of range for type integer'),
    ("select ^''::int", "22P02", 'invalid input syntax for type integer: ""'),
    ("select ^'abc'::float8", "22P02", 'invalid input syntax for type double precision: "abc"'),
    ("select 1::^numeric(50,2)", "0A000", "type numeric(50,2) is not supported"),
    ("select 1::^numeric(0)", "22023", "NUMERIC precision 0 must be between 1 and 1000"),
    ("select 1::^varchar(0)", "22023", "length for type varchar must be at least 1"),
    ("select ^pg_snooze(1)", "42883", "function pg_snooze(integer) does not exist"),
    ("select ^nextval('x')", "42883", "function nextval(unknown) does not exist"),
    ("select a from ^public.nope", "42P01", 'relation "public.nope" does not exist'),
    ("select lag(a) over (partition by ^nope) from t", "42703", 'column "nope" does not exist'),
    ("select ^date_trunc('foo', ts) from t", "22023", 'unit "foo" not recognized for type timestamp without time zone'),
    ("select ^to_char(ts, b) from t", "0A000", "the format of to_char that is not a literal is not supported"),
    *(
        (query, "0A000", "a column of a query that is two subqueries further out is not supported")
        for query in (
            "select a from t where exists (select 1 from s where exists (select 1 from p where p.id = ^t.a))",
            "select a from t where exists (select 1 from s where exists (select 1 from p where p.id = ^n))",
            "select a from t where exists (select 1 from s where exists (select ^t.* from p))",
            "select (select (select ^t.a)) from t",
            "select 1 from t, lateral (select 1 from s, lateral (select 1 from p where id = ^t.a) x) y",
            "select 1 from t where a in (select s.a from s join p on id in (select ^t.a from v))",
            "select a from t where exists (select 1 from s where exists (select 1 from generate_series(1, ^t.a)))",
            "select a from t where exists (select 1 from s where a in (select id from p union select ^t.a from v))",
            "select a from t where exists (select 1 from (select 1 from s where a = (select max(id + ^t.x) from p)) q)",
        )
    ),
)

# Query and the hint that comes with its error.
HINTS: tuple[tuple[str, str], ...] = (
    (
        "select (select (select t.a)) from t",
        "Let the subquery in between deliver it: add (SELECT column) AS name to its FROM clause.",
    ),
    ("select * from tt", 'Perhaps you meant "t".'),
    ("select totl from v", 'Perhaps you meant "total".'),
    ("select v.totl from v", 'Perhaps you meant "total".'),
    ("select t.a from t x", 'Perhaps you meant to reference the table alias "x".'),
    (
        "select foo(1)",
        "No function matches the given name and argument types. You might need to add explicit type casts.",
    ),
    (
        "select 1 + true",
        "No operator matches the given name and argument types. You might need to add explicit type casts.",
    ),
    ("select '1'::json", "Use text instead."),
    ("select first(a) from t", "Use min_by(value, key), or array_agg(value ORDER BY key)."),
    ("select last(a) from t", "Use max_by(value, key), or array_agg(value ORDER BY key)."),
)


@pytest.mark.parametrize(("marked", "sqlstate", "message"), CASES, ids=[case[0] for case in CASES])
def test_error(marked: str, sqlstate: str, message: str) -> None:
    position = marked.find("^") + 1 or None
    with pytest.raises(MillpondError) as caught:
        bound(marked.replace("^", "", 1))
    error = caught.value
    assert (error.sqlstate, error.message, error.position) == (sqlstate, message, position)


@pytest.mark.parametrize(("sql", "hint"), HINTS)
def test_hint(sql: str, hint: str) -> None:
    with pytest.raises(MillpondError) as caught:
        bound(sql)
    assert caught.value.hint == hint


def test_positions_are_moved_by_the_offset_of_the_query_in_its_statement() -> None:
    from millpond.sql.bind import bind
    from millpond.sql.dialect import parse_query
    from tests.unit.sql.catalog import Names

    with pytest.raises(MillpondError) as caught:
        bind(parse_query("select nope from t"), Names(), position_offset=100)
    assert caught.value.position == 108
