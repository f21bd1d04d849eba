"""How SQL text becomes a tree: PostgreSQL's grammar for what users write, Spark's for the templates of our own tables.

Both keep every function call as `exp.Anonymous`, by the name that was written, so that the function table alone
decides which functions exist and what they mean. Trees given to `bind` come from `PostgresText`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

PrimaryParser = Callable[[Any, Token], Any]

_SPECIAL_SYNTAX = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
"""Functions whose arguments are not a plain list; they alone keep nodes of their own."""

_INTERVAL_FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def _positioned(parse: PrimaryParser) -> PrimaryParser:
    """A parser of a literal that also notes where the literal stands, for errors about its value."""

    def parse_and_note(parser: Any, token: Token) -> Any:
        node = parse(parser, token)
        return node.update_positions(token) if isinstance(node, exp.Expr) else node

    return parse_and_note


class PostgresText(Postgres):
    """PostgreSQL's grammar, with functions left as written and positions on literals.

    >>> sqlglot.parse_one("SELECT char_length(a)", dialect=PostgresText).expressions[0].name
    'char_length'
    """

    class Parser(PostgresParser):
        FUNCTIONS: ClassVar = {}
        FUNCTION_PARSERS: ClassVar = {name: PostgresParser.FUNCTION_PARSERS[name] for name in _SPECIAL_SYNTAX}
        PRIMARY_PARSERS: ClassVar = {
            token: _positioned(parse) for token, parse in PostgresParser.PRIMARY_PARSERS.items()
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in PostgresParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("ANY", "CASE", "VARIADIC")
        }

        def _parse_interval(self, *_options: Any, **_more: Any) -> Any:
            """`INTERVAL '...' [field [TO field]]`, its text untouched: `literals` reads PostgreSQL's spellings."""
            index = self._index
            if not self._match(TokenType.INTERVAL) or not self._match(TokenType.STRING, advance=False):
                self._retreat(index)
                return None
            text = self._parse_primary()
            first = self._parse_interval_field()
            last = self._parse_interval_field() if first and self._match_text_seq("TO") else None
            unit = exp.IntervalSpan(this=first, expression=last) if last else first
            return self.expression(exp.Interval(this=text, unit=unit))

        def _parse_interval_field(self) -> Any:
            if self._curr and self._curr.text.upper() in _INTERVAL_FIELDS:
                self._advance()
                return exp.Var(this=self._prev.text.upper())
            return None


class SparkTemplate(Spark):
    """Spark's grammar for the templates in our own tables: functions pass through by name, never reinterpreted."""

    class Parser(SparkParser):
        STRICT_CAST = True
        FUNCTIONS: ClassVar = {}
        FUNCTION_PARSERS: ClassVar = {
            "CAST": SparkParser.FUNCTION_PARSERS["CAST"],
            "TRY_CAST": SparkParser.FUNCTION_PARSERS["TRY_CAST"],
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


def parse_query(text: str) -> exp.Expr:
    """The tree of one query in PostgreSQL's SQL."""
    return sqlglot.parse_one(text, dialect=PostgresText)


def parse_scalar(text: str) -> exp.Expr:
    """The tree of one scalar expression in PostgreSQL's SQL, such as a default or the condition of a check."""
    outputs: list[exp.Expr] = parse_query(f"SELECT {text}").expressions
    return outputs[0]
