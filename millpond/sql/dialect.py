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

from millpond.sql.nodes import PLACE
from millpond.sql.tokens import ParameterTokens

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


def _positioned_call(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A parser of a function's arguments that also notes where the function's name stands, before the parenthesis."""

    def parse_and_note(parser: Any) -> Any:
        start = parser._tokens[parser._index - 2].start
        return parse(parser).update_positions(start=start)

    return parse_and_note


def _typed_literal(_parser: Any, this: exp.Expr, data_type: exp.DataType) -> exp.Expr:
    """`timestamp '2024-01-01'::date` is a cast of the timestamp: sqlglot has cast the text to a date before."""
    literal = this
    while not isinstance(literal, exp.Literal):
        literal = literal.this
    cast = exp.Cast(this=literal.copy(), to=data_type).update_positions(literal)
    if literal is this:
        return cast
    literal.replace(cast)
    return this


_OPERATORS: dict[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(words.split())
    for kind, words in {
        exp.Add: "+",
        exp.Sub: "-",
        exp.Neg: "-",
        exp.Mul: "*",
        exp.Div: "/",
        exp.Mod: "%",
        exp.Pow: "^",
        exp.Sqrt: "|/",
        exp.DPipe: "||",
        exp.EQ: "=",
        exp.NEQ: "<> !=",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
        exp.NullSafeEQ: "IS",
        exp.NullSafeNEQ: "IS",
        exp.BitwiseAnd: "&",
        exp.BitwiseOr: "|",
        exp.BitwiseXor: "#",
        exp.BitwiseNot: "~",
        exp.BitwiseLeftShift: "<<",
        exp.BitwiseRightShift: ">>",
        exp.Like: "LIKE ~~",
        exp.ILike: "ILIKE ~~*",
        exp.SimilarTo: "SIMILAR",
        exp.RegexpLike: "~ !~",
        exp.RegexpILike: "~* !~*",
        exp.In: "IN",
        exp.Between: "BETWEEN",
        exp.Cast: ":: CAST",
    }.items()
}
"""The words and symbols that make an operator, by its node."""


class PostgresText(Postgres):
    """PostgreSQL's grammar, with functions left as written and positions on literals.

    >>> sqlglot.parse_one("SELECT char_length(a)", dialect=PostgresText).expressions[0].name
    'char_length'
    """

    INDEX_OFFSET = 0  # Subscripts stay as written.

    class Tokenizer(ParameterTokens):
        pass

    class Parser(PostgresParser):
        # `AS select` and `t.select` are names in PostgreSQL.
        RESERVED_TOKENS: ClassVar = PostgresParser.RESERVED_TOKENS - {TokenType.SELECT}
        # SESSION is a window over a stream.
        FUNC_TOKENS: ClassVar = PostgresParser.FUNC_TOKENS | {TokenType.SESSION}
        FUNCTIONS: ClassVar = {}
        FUNCTION_PARSERS: ClassVar = {
            name: _positioned_call(PostgresParser.FUNCTION_PARSERS[name]) for name in _SPECIAL_SYNTAX
        }
        PRIMARY_PARSERS: ClassVar = {
            token: _positioned(parse) for token, parse in PostgresParser.PRIMARY_PARSERS.items()
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in PostgresParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("ANY", "CASE", "VARIADIC")
        }

        # `:name` is a parameter elsewhere; in PostgreSQL it is nothing.
        PLACEHOLDER_PARSERS: ClassVar = {
            token: parse for token, parse in PostgresParser.PLACEHOLDER_PARSERS.items() if token is not TokenType.COLON
        }

        TYPE_LITERAL_PARSERS: ClassVar = dict.fromkeys(exp.DataType.Type, _typed_literal)

        def expression(self, instance: Any, token: Any = None, comments: Any = None) -> Any:
            """A node as sqlglot makes it; an operator or cast with its place noted, as errors point at that."""
            made = super().expression(instance, token, comments)
            words = _OPERATORS.get(type(made))
            place = self._place_before(words) if words else None
            if place is not None:
                made.meta[PLACE] = place
            return made

        def _place_before(self, words: frozenset[str]) -> int | None:
            """The start of the last of the words that is not inside of parentheses or of CASE."""
            depth = 0
            for index in range(self._index - 1, -1, -1):
                word = self._tokens[index].text.upper()
                if depth <= 0 and word in words:
                    return int(self._tokens[index].start)
                depth += word in (")", "END")
                depth -= word in ("(", "CASE")
            return None

        def _parse_pipe_syntax_query(self, query: Any) -> Any:  # noqa: ARG002
            """`query |> operator` is not PostgreSQL's."""
            self.raise_error("Unexpected token")

        def _parse_types(self, *options: Any, **more: Any) -> Any:
            start = self._curr.start if self._curr else None
            made = super()._parse_types(*options, **more)
            if isinstance(made, exp.ObjectIdentifier) and self._match_pair(TokenType.L_BRACKET, TokenType.R_BRACKET):
                made = exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[made], nested=True)
            if isinstance(made, exp.DataType) and start is not None:
                made.meta[PLACE] = start
            return made

        def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
            """A list; sqlglot forgives a comma without anything behind it. Looking for a lambda it may go wrong."""
            if parse_method == self._parse_lambda_arg:
                return super()._parse_csv(parse_method, sep)

            def parse() -> Any:
                after_comma = self._prev is not None and self._prev.token_type is sep
                made = parse_method()
                if made is None and after_comma:
                    self.raise_error("Expected another item")
                return made

            return super()._parse_csv(parse, sep)

        def _parse_lambda(self, *options: Any, **more: Any) -> Any:
            """An argument of a function; `n PARTITION BY a, b` is one of a window over a stream."""
            made = super()._parse_lambda(*options, **more)
            if made is None or not self._match(TokenType.PARTITION_BY):
                return made
            return self.expression(exp.Partition(expressions=[made, *self._parse_csv(self._parse_column)]))

        def _parse_join(self, *options: Any, **more: Any) -> Any:
            """A join; sqlglot takes one without a condition for a product."""
            is_comma = self._curr is not None and self._curr.token_type is TokenType.COMMA
            join = super()._parse_join(*options, **more)
            if join is None or is_comma or (join.args.get("kind") or "").upper() == "CROSS":
                return join
            if not any(join.args.get(part) for part in ("on", "using", "method")):
                self.raise_error("Expected ON or USING")
            return join

        def _parse_version(self) -> Any:
            """`AS OF CYCLE n [OF query]` or `FOR SYSTEM_TIME AS OF time` behind a table; `kind` is the query."""
            if self._match_text_seq("AS", "OF", "CYCLE"):
                number = self._expected(self._parse_bitwise())
                query = self._expected(self._parse_id_var(any_token=False)) if self._match_text_seq("OF") else "AS OF"
                return self.expression(exp.Version(this="CYCLE", expression=number, kind=query))
            if not self._match_text_seq("FOR", "SYSTEM_TIME"):
                return None
            moment = self._expected(self._match_text_seq("AS", "OF") and self._parse_bitwise())
            return self.expression(exp.Version(this="TIMESTAMP", expression=moment, kind="AS OF"))

        def _expected(self, made: Any) -> Any:
            if not made:
                self.raise_error("Unexpected token")
            return made

        def _parse_table_alias(self, *options: Any, **more: Any) -> Any:
            alias = super()._parse_table_alias(*options, **more)
            if alias is None and self._prev is not None and self._prev.token_type is TokenType.ALIAS:
                self.raise_error("Expected a name")
            return alias

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
