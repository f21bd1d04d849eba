"""Values between SQL's types, texts, Python and Arrow, by PostgreSQL's rules; COPY and INSERT stand on it."""

from millpond.values.assignment import assign, sql_type_of
from millpond.values.failure import ConversionError
from millpond.values.not_null import check_not_null, failing_row
from millpond.values.rows import array_of, missing_columns, to_table
from millpond.values.text_input import from_text, read_texts
from millpond.values.text_output import to_text

__all__ = [
    "ConversionError",
    "array_of",
    "assign",
    "check_not_null",
    "failing_row",
    "from_text",
    "missing_columns",
    "read_texts",
    "sql_type_of",
    "to_table",
    "to_text",
]
