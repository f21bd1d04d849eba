"""The COPY statement's text and its options, in both spellings, with PostgreSQL's errors."""

import pytest

from millpond.copy import CSV, CopyOptions
from millpond.errors import MillpondError
from millpond.sql.copy import CopyStatement, parse_copy


def test_new_spelling() -> None:
    text = (
        "COPY public.\"T\" (a, \"B\") FROM 'f''x.csv' WITH (FORMAT csv, HEADER match, DELIMITER E'\\t', "
        "NULL '-', DEFAULT '\\D', QUOTE '''', FORCE_NOT_NULL (a), FORCE_NULL *, ENCODING 'latin1', ON_ERROR ignore);"
    )
    options = CopyOptions(
        format="csv",
        header="match",
        delimiter="\t",
        null="-",
        default="\\D",
        quote="'",
        escape="'",
        force_not_null=("a",),
        force_null="*",
        encoding="iso8859-1",
        on_error="ignore",
    )
    assert parse_copy(text) == CopyStatement(
        "from",
        options,
        table="T",
        schema="public",
        table_position=6,
        columns=("a", "B"),
        file="f'x.csv",
        file_position=text.index("'f''x") + 1,
    )


def test_old_spelling() -> None:
    copy = parse_copy("copy t from stdin with csv header delimiter as '|' null '' quote '\"' force not null a, b")
    assert (copy.table, copy.schema, copy.file, copy.columns) == ("t", None, None, None)
    assert copy.options == CopyOptions(
        format="csv", header=True, delimiter="|", null="", force_not_null=("a", "b"), quote='"', escape='"'
    )


def test_plain_copies_are_text() -> None:
    assert parse_copy("COPY t FROM STDIN").options == CopyOptions()
    assert parse_copy("COPY t TO STDOUT (FORMAT 'csv')").options == CSV
    assert parse_copy("COPY t TO 'f' (FORMAT json)").options.format == "ndjson"


def test_a_query_is_kept_with_its_position() -> None:
    text = "COPY ( SELECT ')', (1) FROM t ) TO STDOUT CSV FORCE QUOTE *"
    copy = parse_copy(text)
    assert (copy.direction, copy.query) == ("to", "SELECT ')', (1) FROM t")
    assert copy.query_position == text.index("SELECT") + 1
    assert copy.options.force_quote == "*"


@pytest.mark.parametrize(
    ("text", "sqlstate", "message", "near"),
    [
        ("COPY t FROM", "42601", "syntax error at end of input", None),
        ("COPY t 'f'", "42601", "syntax error at or near \"'f'\"", "'f'"),
        ("COPY (SELECT 1) FROM 'f'", "42601", 'syntax error at or near "FROM"', "FROM"),
        ("COPY t FROM 'f' CSV nonsense", "42601", 'syntax error at or near "nonsense"', "nonsense"),
        ("COPY t FROM 'f' (nonsense 1)", "42601", 'option "nonsense" not recognized', "nonsense"),
        ("COPY t FROM 'f' (NULL 'a', NULL 'b')", "42601", "conflicting or redundant options", "NULL 'b'"),
        ("COPY t FROM 'f' (FORMAT xml)", "22023", 'COPY format "xml" not recognized', "FORMAT"),
        ("COPY t FROM 'f' (FORMAT binary, HEADER)", "0A000", "cannot specify HEADER in BINARY mode", "HEADER"),
        ("COPY t FROM 'f' (HEADER maybe)", "42601", 'header requires a Boolean value or "match"', "HEADER"),
        ("COPY t TO 'f' (HEADER match)", "0A000", 'cannot use "match" with HEADER in COPY TO', "HEADER"),
        ("COPY t FROM 'f' CSV DELIMITER ',,'", "0A000", "COPY delimiter must be a single one-byte character", "DELIM"),
        ("COPY t FROM 'f' CSV DELIMITER 'ü'", "0A000", "COPY delimiter must be a single one-byte character", "DELIM"),
        ("COPY t FROM 'f' CSV QUOTE ''", "0A000", "COPY quote must be a single one-byte character", "QUOTE"),
        ("COPY t FROM 'f' CSV QUOTE ','", "22023", "COPY delimiter and quote must be different", "QUOTE"),
        ("COPY t FROM 'f' DELIMITER 'a'", "22023", 'COPY delimiter cannot be "a"', "DELIMITER"),
        (
            "COPY t FROM 'f' (DELIMITER E'\\n')",
            "22023",
            "COPY delimiter cannot be newline or carriage return",
            "DELIMITER",
        ),
        (
            "COPY t FROM 'f' CSV NULL 'a,b'",
            "22023",
            "COPY delimiter character must not appear in the NULL specification",
            "NULL",
        ),
        ("COPY t FROM 'f' (QUOTE '\"')", "0A000", "COPY QUOTE requires CSV mode", "QUOTE"),
        ("COPY t FROM 'f' (FORMAT parquet, HEADER)", "0A000", "cannot specify HEADER in PARQUET mode", "HEADER"),
        ("COPY t FROM 'f' CSV FORCE QUOTE a", "0A000", "COPY FORCE_QUOTE cannot be used with COPY FROM", "FORCE"),
        ("COPY t TO 'f' CSV FORCE NULL a", "0A000", "COPY FORCE_NULL cannot be used with COPY TO", "FORCE"),
        (
            "COPY t FROM 'f' (ENCODING 'klingon')",
            "22023",
            'argument to option "encoding" must be a valid encoding name',
            "ENCODING",
        ),
        ("COPY t FROM 'f' (ON_ERROR panic)", "22023", 'COPY ON_ERROR "panic" not recognized', "ON_ERROR"),
        ("COPY t FROM PROGRAM 'ls'", "0A000", "COPY FROM PROGRAM is not supported", "'ls'"),
        ("COPY t FROM 'f' CSV WHERE a > 1", "0A000", "COPY ... WHERE is not supported", "a >"),
    ],
)
def test_errors_carry_their_position(text: str, sqlstate: str, message: str, near: str | None) -> None:
    with pytest.raises(MillpondError) as caught:
        parse_copy(text)
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)
    assert caught.value.position == (len(text) if near is None else text.index(near)) + 1
