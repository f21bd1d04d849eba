"""From text to statements: every form that is read by tokens, and syntax errors with their place."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.relation import Check, Column, Key
from millpond.sql import session_records as r
from millpond.sql import statements as s
from millpond.sql.parameters import Parameters
from millpond.sql.parse import parse
from millpond.sql.split import split
from millpond.types import INTEGER, TEXT, TIMESTAMPTZ, numeric


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BEGIN", r.Begin()),
        (
            "begin isolation level repeatable read, read only",
            r.Begin({"transaction_isolation": "repeatable read", "transaction_read_only": "on"}),
        ),
        ("START TRANSACTION", r.Begin()),
        ("COMMIT WORK", r.Commit()),
        ("END", r.Commit()),
        ("ABORT", r.Rollback()),
        ("SET stream_scan = 'snapshot'", r.SetSetting("stream_scan", "snapshot")),
        ("SET SESSION statement_timeout TO 500", r.SetSetting("statement_timeout", "500")),
        ("SET TIME ZONE 'UTC'", r.SetSetting("timezone", "UTC")),
        ("SET x = DEFAULT", r.SetSetting("x", None)),
        ("SET x = -5", r.SetSetting("x", "-5")),
        ("SHOW ALL", r.ShowSetting("all")),
        ("RESET Statement_Timeout", r.ResetSetting("statement_timeout")),
        ("VACUUM FULL public.t", s.Vacuum(s.Name("t", "public", 13), full=True)),
        ("VACUUM", s.Vacuum(None, full=False)),
        (
            'DROP STREAM IF EXISTS a, "B" CASCADE',
            s.Drop("stream", (s.Name("a", None, 23), s.Name("B", None, 26)), True, True),
        ),
        ("DROP VIEW v", s.Drop("view", (s.Name("v", None, 11),), False, False)),
        ("TRUNCATE TABLE a, b", s.Truncate((s.Name("a", None, 16), s.Name("b", None, 19)))),
    ],
)
def test_utility_statements(text: str, expected: s.Statement) -> None:
    assert parse(text) == expected


def test_create_table() -> None:
    statement = parse(
        'CREATE TABLE IF NOT EXISTS T (id int PRIMARY KEY, "Price" numeric(10,2) NOT NULL DEFAULT 1 + 1 '
        'CHECK ("Price" > 0), '
        "note text UNIQUE, CONSTRAINT pair UNIQUE (id, note), CHECK (id < 10))"
    )
    assert statement == s.CreateTable(
        s.Name("t", None, 28),
        True,
        (
            Column("id", INTEGER, not_null=True),
            Column("Price", numeric(10, 2), not_null=True, default="1 + 1"),
            Column("note", TEXT),
        ),
        (Key("t_pkey", ("id",), primary=True), Key("t_note_key", ("note",)), Key("pair", ("id", "note"))),
        (Check("t_Price_check", '"Price" > 0'), Check("t_check", "id < 10")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FOREIGN TABLE s (a int NOT NULL, at timestamptz) SERVER stream OPTIONS (capacity '10', timestamp 'at')",
        "CREATE STREAM s (a int NOT NULL, at timestamptz) WITH (capacity = 10, timestamp = at)",
    ],
)
def test_create_stream(text: str) -> None:
    statement = parse(text)
    assert isinstance(statement, s.CreateStream)
    assert statement.columns == (Column("a", INTEGER, not_null=True), Column("at", TIMESTAMPTZ))
    assert statement.options == {"capacity": "10", "timestamp": "at"}


def test_create_view_keeps_its_text() -> None:
    statement = parse('CREATE OR REPLACE VIEW v (x, "Y") AS  SELECT 1,  2 -- two')
    assert isinstance(statement, s.CreateView)
    assert (statement.or_replace, statement.column_names) == (True, ("x", "Y"))
    assert statement.text == "SELECT 1,  2 -- two"


def test_explain() -> None:
    for text, analyze in [
        ("EXPLAIN SELECT 1", False),
        ("EXPLAIN ANALYZE VERBOSE SELECT 1", True),
        ("EXPLAIN (ANALYZE, VERBOSE off) SELECT 1", True),
        ("EXPLAIN (ANALYZE false) VALUES (1)", False),
    ]:
        statement = parse(text)
        assert isinstance(statement, s.Explain)
        assert statement.analyze is analyze


def test_insert_of_literals_takes_the_fast_way() -> None:
    assert isinstance(parse("INSERT INTO t VALUES (1, 'x')"), s.InsertLiterals)
    assert isinstance(parse("INSERT INTO t VALUES (1 + 1, 'x')"), s.Insert)
    statement = parse('INSERT INTO t (a, "B") VALUES ($1, $2)', Parameters([1, "it's"]))
    assert isinstance(statement, s.Insert)
    assert statement.columns == ("a", "B")
    assert statement.source is not None
    assert "'it''s'" in statement.source.sql("postgres")


def test_an_insert_knows_where_its_columns_stand() -> None:
    statement = parse("INSERT INTO t (a, b) SELECT 1, 2")
    assert isinstance(statement, s.Insert)
    assert statement.column_positions == (16, 19)


def test_split() -> None:
    text = "SELECT ';' ; /* ; */ SELECT $$;$$;\n\n;SELECT 3 -- ;"
    assert [(source.text, source.offset) for source in split(text)] == [
        ("SELECT ';'", 0),
        ("SELECT $$;$$", 21),
        ("SELECT 3", 37),
    ]
    assert split("  -- nothing\n ;") == []


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC"', 1),
        ("INSERT t VALUES (1)", 'syntax error at or near "t"', 8),
        ("SELECT 'a', 'b", """unterminated quoted string at or near "'b\"""", 13),
        ('SELECT "a', """unterminated quoted identifier at or near ""a\"""", 8),
        ("SELECT 1 /* a", 'unterminated /* comment at or near "/* a"', 10),
        ("SELECT $x$a$$", 'unterminated dollar-quoted string at or near "$x$a$$"', 8),
        ("SELECT E'a\\'", """unterminated quoted string at or near "E'a\\'\"""", 8),
        ("SELECT 1 FROM", "syntax error at end of input", 14),
        ("SELECT * FROM t WHERE", "syntax error at end of input", 22),
        ("SELECT (1", "syntax error at end of input", 10),
        ("SELECT 1 1", 'syntax error at or near "1"', 10),
        ("SET x", "syntax error at end of input", 6),
        ("COMMIT now", 'syntax error at or near "now"', 8),
        ("BEGIN maybe", 'syntax error at or near "maybe"', 7),
        ("CREATE STREAM s a int", 'syntax error at or near "a"', 17),
        ("CREATE FOREIGN TABLE s (a int)", "syntax error at end of input", 31),
        ("DROP STREAM", "syntax error at end of input", 12),
        ("CREATE VIEW v SELECT 1", 'syntax error at or near "SELECT"', 15),
        ("EXPLAIN (NOISE) SELECT 1", 'unrecognized EXPLAIN option "noise"', None),
        ("GRANT SELECT ON t FROM x", 'syntax error at or near "FROM"', 19),
        ("ADD JAR 'x.jar'", 'syntax error at or near "ADD"', 1),
    ],
)
def test_syntax_errors(text: str, message: str, position: int | None) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.sqlstate) == (message, "42601")
    assert position is None or caught.value.position == position


@pytest.mark.parametrize(
    ("text", "sqlstate", "message"),
    [
        ("CREATE TABLE t (a int, A text)", "42701", 'column "a" specified more than once'),
        ("CREATE TABLE t (a int REFERENCES u(b))", "0A000", "FOREIGN KEY"),
        ("CREATE TABLE t (a serial)", "0A000", "serial"),
        ("CREATE TABLE t (a json)", "0A000", "json"),
        ("CREATE TABLE t (a nonsense)", "42704", 'type "nonsense" does not exist'),
        ("CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)", "42P16", "multiple primary keys"),
        ("CREATE TABLE t (a int, UNIQUE (b))", "42703", 'column "b" named in key does not exist'),
        ("CREATE TEMP TABLE t (a int)", "0A000", "not supported"),
        ("CREATE INDEX i ON t (a)", "0A000", "CREATE INDEX is not supported"),
        ("ALTER TABLE t DROP COLUMN a", "0A000", "not supported"),
        ("SELECT 1 INTO t", "0A000", "SELECT INTO"),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "0A000", "ON CONFLICT"),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", "0A000", "serializable"),
        ("CREATE STREAM s (a int) WITH (x = 1, x = 2)", "42601", "provided more than once"),
    ],
)
def test_what_is_refused_says_so(text: str, sqlstate: str, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert caught.value.sqlstate == sqlstate
    assert message in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t WHERE a = 1 LIMIT 1",
        "UPDATE t SET a = 1 ORDER BY a LIMIT 1",
        "INSERT INTO t BY NAME SELECT 1 AS a",
        "INSERT INTO t PARTITION (a = 1) SELECT 1",
        "INSERT INTO t REPLACE WHERE a = 1 SELECT 1",
        "TRUNCATE DATABASE x",
        "INSERT INTO other.public.t SELECT 1",
    ],
)
def test_what_others_have_is_refused_not_ignored(text: str) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert caught.value.sqlstate == "0A000"


@pytest.mark.parametrize("text", ["SELECT a FROM t |> WHERE a = 1", "SELECT a:b FROM t", "SELECT :a"])
def test_what_is_no_syntax_of_postgresql(text: str) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert caught.value.sqlstate == "42601"
