"""Arrays, values in order and subqueries above groups, and what PostgreSQL 16 answers, for `test_dialect.py`."""

from __future__ import annotations

ARRAY_EXPRESSIONS: tuple[tuple[str, str | None], ...] = (
    ("array[1, null, 3]", "{1,NULL,3}"),
    ("array['a b', 'c', null]", '{"a b",c,NULL}'),
    ("array[true, false]", "{t,f}"),
    ("array[1, 2]::text", "{1,2}"),
    ("(array[7, 8])[2]", "8"),
    ("(array[7, 8])[3]", None),
    ("array_length(array[1, 2, 3], 1)", "3"),
    ("array_length(array[1], 2)", None),
    ("cardinality(array[1, 2])", "2"),
    ("array[1, 2] = array[1, 2]", "t"),
    ("array[1, null] = array[1, null]", "t"),
    ("array[1, 2] <> array[1, 3]", "t"),
    ("array[1] is distinct from array[2]", "t"),
    ("array[date '2024-01-01']", "{2024-01-01}"),
    ("array[1.5, 2.5]", "{1.5,2.5}"),
    ("array[timestamp '2024-01-01 10:00']", '{"2024-01-01 10:00:00"}'),
)

ORDERED_QUERIES: tuple[tuple[str, list[tuple[str | None, ...]]], ...] = (
    (
        "select array_agg(a order by a), array_agg(b order by a desc, b), array_agg(n order by n) from t",
        [("{1,2,2,3}", "{three,two,NULL,one}", "{-3.75,1.50,2.25,NULL}")],
    ),
    (
        "select array_agg(b order by b), array_agg(b order by b nulls first), array_agg(b order by b desc) from t",
        [("{one,three,two,NULL}", "{NULL,one,three,two}", "{NULL,two,three,one}")],
    ),
    (
        "select array_agg(distinct b), array_agg(distinct a order by a desc), array_agg(distinct b order by "
        "b desc nulls last) from t",
        [("{one,three,two,NULL}", "{3,2,1}", "{two,three,one,NULL}")],
    ),
    (
        "select array_agg(a) filter (where a > 5), array_agg(a order by a) filter (where a > 1) from t",
        [(None, "{2,2,3}")],
    ),
    (
        "select a, array_agg(b order by b), count(distinct b), count(distinct n) from t group by a order by a",
        [("1", "{one}", "1", "1"), ("2", "{two,NULL}", "1", "1"), ("3", "{three}", "1", "1")],
    ),
    (
        "select array_agg(ts order by a, ts), array_agg(d order by d), array_agg(f order by f), array_agg(x "
        "order by x desc) from t",
        [
            (
                '{"2024-01-01 10:00:00","2024-01-02 11:30:00",NULL,"2024-02-29 23:59:59.5"}',
                "{2024-01-01,2024-01-02,2024-02-29,NULL}",
                "{-0.5,1.5,2.5,NULL}",
                "{NULL,30,20,10}",
            )
        ],
    ),
    (
        "select array_agg(a > 1 order by a), array_agg(u order by u), array_agg(ts order by ts - timestamp "
        "'2024-01-01') from t",
        [
            (
                "{f,t,t,t}",
                "{-3.75,1.5,2.25,NULL}",
                '{"2024-01-01 10:00:00","2024-01-02 11:30:00","2024-02-29 23:59:59.5",NULL}',
            )
        ],
    ),
    ("select array_agg(a) from t where false", [(None,)]),
    (
        'select array_agg(code), array_agg(name), array_agg(tz), array_agg("Mixed"), array_agg(ok) from p',
        [('{"ab  "}', "{seven}", '{"2024-01-01 12:00:00+00"}', "{x}", "{t}")],
    ),
    (
        "select array_agg(v order by n), array_agg(v order by n)::text from (values (1, ''), (2, 'null'), "
        "(3, 'a b'), (4, 'a,b'), (5, '{x}'), (6, 'q\"q'), (7, 'b\\s'), (8, null), (9, 'NULLx'), (10, "
        "E'tab\\t')) q (n, v)",
        [
            (
                '{"","null","a b","a,b","{x}","q\\"q","b\\\\s",NULL,NULLx,"tab\t"}',
                '{"","null","a b","a,b","{x}","q\\"q","b\\\\s",NULL,NULLx,"tab\t"}',
            )
        ],
    ),
    (
        "select array_agg(f order by f)::text, array_agg(ts order by ts)::text || '!', array_agg(a > 1 order "
        "by a)::text, array_agg(n order by n)::text from t",
        [
            (
                "{-0.5,1.5,2.5,NULL}",
                '{"2024-01-01 10:00:00","2024-01-02 11:30:00","2024-02-29 23:59:59.5",NULL}!',
                "{f,t,t,t}",
                "{-3.75,1.50,2.25,NULL}",
            )
        ],
    ),
    ("select array_agg(tz)::text, concat(array_agg(id), 'x') from p", [('{"2024-01-01 12:00:00+00"}', "{7}x")]),
    (
        "select (array_agg(b order by a))[1], (array_agg(b order by a))[9], (array_agg(b order by a))[0], "
        "(array_agg(a order by a))[1 + 1], (array_agg(a))[null] from t",
        [("one", None, None, "2", None)],
    ),
    ("select array[a, a + 1], cardinality(array[b]) from t where a = 1", [("{1,2}", "1")]),
    (
        "select array_agg(a) over (order by a, b) from t order by a, b",
        [("{1}",), ("{1,2}",), ("{1,2,2}",), ("{1,2,2,3}",)],
    ),
    (
        "select q.s, count(*) from (select a % 2 as k, array_agg(a order by a) as s from t group by 1) q "
        "group by q.s order by q.s[1]",
        [("{1,3}", "1"), ("{2,2}", "1")],
    ),
    (
        "select coalesce(array_agg(a), array[0]), case when count(*) > 1 then array_agg(a) end from t where false",
        [("{0}", None)],
    ),
    (
        "select percentile_disc(0.5) within group (order by b), percentile_disc(0.5) within group (order by "
        "d desc), percentile_disc(0.9) within group (order by ts) from t",
        [("three", "2024-01-02", "2024-02-29 23:59:59.5")],
    ),
    (
        "select percentile_disc(0) within group (order by a), percentile_disc(1) within group (order by x), "
        "percentile_disc(0.5) within group (order by n desc), percentile_disc(0.4) within group (order by f) "
        "from t",
        [("1", "30", "1.50", "1.5")],
    ),
    (
        "select percentile_disc(0.5) within group (order by a > 1), percentile_disc(0.5) within group (order "
        "by name), percentile_disc(0.5) within group (order by 9007199254740993) from t, p",
        [("t", "seven", "9007199254740993")],
    ),
    ("select percentile_disc(0.5) within group (order by b) filter (where a > 1) from t", [("three",)]),
    (
        "select a, percentile_disc(0.5) within group (order by b) from t group by a order by a",
        [("1", "one"), ("2", "two"), ("3", "three")],
    ),
    (
        "select mode() within group (order by b), mode() within group (order by d), mode() within group "
        "(order by ts desc), mode() within group (order by a > 1) from t",
        [("one", "2024-01-01", "2024-02-29 23:59:59.5", "t")],
    ),
    ("select id, name, count(*) from p group by id", [("7", "seven", "1")]),
    (
        "select p.id, upper(p.name), code, count(*) from p join t on t.a < p.id group by p.id order by name, "
        "length(code)",
        [("7", "SEVEN", "ab  ", "4")],
    ),
    ("select id, name from p group by id having name > 'a'", [("7", "seven")]),
    ("select id, (select count(*) from t where t.b > p.name) from p group by id", [("7", "2")]),
    (
        "select id, name, ok, count(*) from p group by id, rollup (ok) order by ok",
        [("7", "seven", "t", "1"), ("7", "seven", None, "1")],
    ),
    (
        "select a, (select max(id) from p where p.id > t.a) from t group by a order by a",
        [("1", "7"), ("2", "7"), ("3", "7")],
    ),
    (
        "select a, (select max(id) from p where p.id > t.a), count(*) from t group by a having count(*) > 1",
        [("2", "7", "2")],
    ),
    (
        "select a, count(*) from t group by a having count(*) > (select count(*) from p where p.id > t.a) order by a",
        [("2", "2")],
    ),
    (
        "select a, count(*) + (select max(id) from p where p.id > t.a) + sum(x), sum(n) filter (where a > 1) "
        "from t group by a order by 2, 1",
        [("1", "18", None), ("2", "29", "2.25"), ("3", "38", "-3.75")],
    ),
    (
        "select a, exists (select 1 from p where p.id > t.a), a in (select id from p where id > t.a) from t "
        "group by a order by a",
        [("1", "t", "f"), ("2", "t", "f"), ("3", "t", "f")],
    ),
    (
        "select a, rank() over (order by count(*) desc, a), (select max(id) from p where p.id > t.a) from t "
        "group by a order by a",
        [("1", "2", "7"), ("2", "1", "7"), ("3", "3", "7")],
    ),
    (
        "select a, (select sum(q.a) from (select t2.a from t t2 where t2.a = t.a) q) from t group by a order by a",
        [("1", "1"), ("2", "4"), ("3", "3")],
    ),
    (
        "select t.a, (select count(*) from t where t.a = 2) from t group by t.a order by t.a",
        [("1", "2"), ("2", "2"), ("3", "2")],
    ),
    ("select a from t order by (select max(id) from p where p.id > t.a), b", [("1",), ("3",), ("2",), ("2",)]),
    ("select a from t order by exists (select 1 from p where p.id = t.a), a desc", [("3",), ("2",), ("2",), ("1",)]),
    ("select a from t group by a order by (select max(p.id) from p where p.id > t.a), a", [("1",), ("2",), ("3",)]),
    (
        "select distinct on (a) a, b from t order by a, (select max(p.id) from p where p.name > t.b), b",
        [("1", "one"), ("2", "two"), ("3", "three")],
    ),
)
