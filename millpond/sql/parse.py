"""From text to statements: PostgreSQL's SQL, by sqlglot where it parses it, by tokens where it does not.

`parse` turns a statement into a record of `statements.py`; `millpond.sql.split` cuts a text into statements before.
Nothing here looks at the catalog; names and types are resolved later, by `bind`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import definitions, utility
from millpond.sql.branches import branch_texts, emitted, share_with
from millpond.sql.clauses import relation_name, view_options
from millpond.sql.continuous_queries import read_header
from millpond.sql.copy import parse_copy
from millpond.sql.dialect import PostgresText
from millpond.sql.messages import read_declare
from millpond.sql.nodes import fold, position_of
from millpond.sql.parameters import Parameters, Values
from millpond.sql.statements import (
    Copy,
    CreateContinuousQuery,
    CreateTable,
    CreateTableAs,
    CreateView,
    Delete,
    Explain,
    ExplainContinuousQuery,
    ExplainSplit,
    Insert,
    InsertLiterals,
    Name,
    Query,
    QueryDefinition,
    Statement,
    Truncate,
    Update,
)
from millpond.sql.subscribe import Subscribe, is_query, read_subscribe
from millpond.sql.tokens import TokenCursor, marked, syntax_error, tokenize
from millpond.sql.values_parser import parse_insert_values

# sqlglot warns on its logger when it falls back to an opaque command; such a tree is refused below.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


def parse(text: str, parameters: Parameters | None = None) -> Statement:
    """The statement that a text holds."""
    literals = parse_insert_values(text) if parameters is None else None
    if literals is not None:
        return InsertLiterals(Name(literals.table, literals.schema, literals.table_position), literals)
    cursor = TokenCursor(text)
    special = utility.parse(cursor)
    if special is not None:
        return special
    handler = next((handler for words, handler in _BY_WORDS if cursor.accept(*words)), None)
    if handler is not None:
        return handler(cursor, parameters)
    first = next((word for word in _FIRST_WORDS if cursor.accept(word)), None)
    if first is None:
        raise cursor.error()
    if first == "INSERT":
        cursor.expect("INTO")
    return _from_tree(text, parse_tree(text, parameters))


_FIRST_WORDS = ("SELECT", "WITH", "VALUES", "TABLE", "(", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "TRUNCATE")
"""How a statement begins that sqlglot parses; it would take other words for names."""


def parse_tree(text: str, parameters: Parameters | None = None) -> exp.Expr:
    """One statement as sqlglot sees it, its parameters put in."""
    try:
        trees = sqlglot.parse(marked(text), dialect=PostgresText)
    except ParseError as error:
        raise _syntax_error(text, error) from error
    except RecursionError as error:
        raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, "statement is nested too deeply") from error
    if len(trees) != 1 or trees[0] is None:
        raise syntax_error(text, None)
    return parameters.put_into(trees[0]) if parameters else trees[0]


def parse_query(text: str, parameters: Parameters | None = None) -> exp.Query:
    """A text that must be a query, such as a view's definition."""
    tree = parse_tree(text, parameters)
    if isinstance(tree, exp.Values):
        tree = exp.select("*").from_(exp.alias_(tree, "values", table=True), copy=False)
    if not isinstance(tree, exp.Query):
        raise syntax_error(text, tokenize(text)[0])
    return tree


def parse_insert(text: str) -> Insert:
    """An INSERT by the general parser, whatever it inserts."""
    return _insert(_insert_tree(text))


def parse_definition(text: str, start: int = 0) -> QueryDefinition:
    """What a continuous query, whose definition begins there, inserts and emits."""
    trees = [branch_tree(branch) for branch in branch_texts(text, start)]
    share_with(trees)
    emits = [tree for tree in trees if isinstance(tree, exp.Query)]
    if len(emits) > 1:
        raise not_supported("more than one EMIT in a continuous query", position=position_of(emits[1]))
    inserts = tuple(_insert(tree) for tree in trees if isinstance(tree, exp.Insert))
    if not inserts:
        hint = "Subscribe to its SELECT instead, or insert something."
        raise not_supported("a continuous query that only emits rows", hint=hint, position=position_of(emits[0]))
    return QueryDefinition(inserts, emits[0] if emits else None)


def branch_tree(text: str) -> exp.Insert | exp.Query:
    """One of the INSERTs of a continuous query, or what it emits."""
    query = emitted(text)
    return _insert_tree(text) if query is None else parse_query(query)


def _insert_tree(text: str) -> exp.Insert:
    tree = parse_tree(text)
    if not isinstance(tree, exp.Insert):
        raise syntax_error(text, tokenize(text)[0])
    _refuse_other_parts(tree)
    return tree


def parse_expression(text: str) -> exp.Expr:
    """A scalar expression, such as a CHECK or a DEFAULT."""
    query = parse_query(f"SELECT {text}")
    return query.selects[0]


# -- statements that sqlglot parses --------------------------------------------------------------------------


def _from_tree(text: str, tree: exp.Expr) -> Statement:
    if isinstance(tree, exp.Values):
        return Query(parse_query(text))
    if isinstance(tree, exp.Query):
        if tree.args.get("into"):
            raise not_supported("SELECT INTO", hint="Use CREATE TABLE ... AS.")
        return Query(tree)
    build = _BY_TREE.get(type(tree))
    if build is None:
        raise syntax_error(text, tokenize(text)[0])
    _refuse_other_parts(tree)
    return build(tree)


_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Insert: frozenset("this expression conflict default returning with_".split()),
    exp.Update: frozenset("this expressions from_ where returning with_".split()),
    exp.Delete: frozenset("this tables using where returning with_".split()),
    exp.TruncateTable: frozenset("expressions identity option".split()),
}
"""What PostgreSQL's statements have; sqlglot also parses what others do, such as a LIMIT that we would not heed."""


def _refuse_other_parts(tree: exp.Expr) -> None:
    allowed = _PARTS.get(type(tree))
    other = [part for part, value in tree.args.items() if value and allowed is not None and part not in allowed]
    if other:
        words = type(tree).__name__.upper().removesuffix("TABLE")
        raise not_supported(f"{words} with {other[0].strip('_').replace('_', ' ').upper()}")


def _insert(tree: exp.Insert) -> Insert:
    if tree.args.get("conflict"):
        raise not_supported(
            "INSERT ... ON CONFLICT", hint="Delete or update the rows in a transaction before inserting."
        )
    target, columns = tree.this, None
    positions: tuple[int | None, ...] = ()
    if isinstance(target, exp.Schema):
        columns = tuple(fold(identifier) for identifier in target.expressions)
        positions = tuple(position_of(identifier) for identifier in target.expressions)
        target = target.this
    source = tree.expression
    if isinstance(source, exp.Values):
        source = exp.select("*").from_(exp.alias_(source, "values", table=True), copy=False)
    with_ = tree.args.get("with_")
    if with_ is not None and source is not None:
        source = source.copy()
        own = source.args.get("with_")
        if own is not None:
            recursive = with_.args.get("recursive") or own.args.get("recursive")
            with_ = exp.With(expressions=[*with_.expressions, *own.expressions], recursive=recursive)
        source.set("with_", with_)
    return Insert(definitions.name_of(target), columns, source, _returning(tree), column_positions=positions)


def _returning(tree: exp.Expr) -> tuple[exp.Expr, ...]:
    returning = tree.args.get("returning")
    return tuple(returning.expressions) if returning else ()


def _update(tree: exp.Update) -> Statement:
    return Update(definitions.name_of(tree.this), tree)


def _delete(tree: exp.Delete) -> Statement:
    if not isinstance(tree.this, exp.Table):
        # DELETE without FROM: sqlglot takes what follows for a list of tables.
        table = tree.args["tables"][0]
        message = f'syntax error at or near "{table.name}"'
        raise MillpondError(SqlState.SYNTAX_ERROR, message, position=position_of(table))
    return Delete(definitions.name_of(tree.this), tree)


def _create(tree: exp.Create) -> Statement:
    if tree.kind != "TABLE":
        raise not_supported(f"CREATE {tree.kind}")
    properties = tree.args["properties"].expressions if tree.args.get("properties") else []
    if tree.args.get("replace") or any(not isinstance(one, exp.WithDataProperty) for one in properties):
        hint = "Temporary, unlogged and partitioned tables do not exist here."
        raise not_supported("this form of CREATE TABLE", hint=hint)
    schema = tree.this
    table = schema.this if isinstance(schema, exp.Schema) else schema
    name, exists = definitions.name_of(table), bool(tree.args.get("exists"))
    if tree.expression is not None:
        names = [fold(item) for item in schema.expressions] if isinstance(schema, exp.Schema) else []
        with_data = not any(one.args.get("no") for one in properties)
        return CreateTableAs(name, exists, tuple(names), tree.expression, with_data)
    if not isinstance(schema, exp.Schema):
        raise MillpondError(SqlState.SYNTAX_ERROR, "syntax error at end of input")
    columns, keys, checks = definitions.read(name.name, schema)
    return CreateTable(name, exists, columns, keys, checks)


def _truncate(tree: exp.TruncateTable) -> Statement:
    return Truncate(tuple(definitions.name_of(table) for table in tree.expressions))


def _alter(tree: exp.Alter) -> Statement:
    return definitions.read_alter(tree)


_BY_TREE: dict[type[exp.Expr], Callable[..., Statement]] = {
    exp.Insert: _insert,
    exp.Update: _update,
    exp.Delete: _delete,
    exp.Create: _create,
    exp.TruncateTable: _truncate,
    exp.Alter: _alter,
}


# -- statements that hold a query after words of their own ----------------------------------------------------


def _copy(cursor: TokenCursor, parameters: Parameters | None) -> Statement:
    copy = parse_copy(cursor.text)
    query = None
    if copy.query is not None:
        padded = " " * ((copy.query_position or 1) - 1) + copy.query
        inner = TokenCursor(padded)
        if inner.accept("SUBSCRIBE"):
            return Copy(copy, None, _subscribe(inner, parameters))
        query = parse_query(padded, parameters)
    return Copy(copy, query)


def _explain(cursor: TokenCursor, parameters: Parameters | None) -> Statement:
    analyze = split_only = False
    if cursor.text[cursor.position - 1 : cursor.position] == "(":
        cursor.expect("(")
        while not cursor.accept(")"):
            option = cursor.identifier()
            value = True if cursor.accept(",") or cursor.text[cursor.position - 1] == ")" else _boolean(cursor)
            analyze = value if option == "analyze" else analyze
            split_only = value if option == "split" else split_only
            if option not in ("analyze", "split", "verbose", "costs", "timing", "summary", "settings", "buffers"):
                message = f'unrecognized EXPLAIN option "{option}"'
                raise MillpondError(SqlState.SYNTAX_ERROR, message, position=cursor.position)
            cursor.accept(",")
    else:
        analyze = cursor.accept("ANALYZE")
        cursor.accept("VERBOSE")
    start = cursor.position - 1
    statement = parse(" " * start + cursor.text[start:], parameters)
    if isinstance(statement, CreateContinuousQuery) and not (analyze or split_only):
        return ExplainContinuousQuery(statement.name, statement)
    if not isinstance(statement, Query):
        raise not_supported("EXPLAIN of anything but a query", position=start + 1)
    return ExplainSplit(statement.tree, None) if split_only else Explain(statement.tree, analyze)


def _boolean(cursor: TokenCursor) -> bool:
    return cursor.identifier() not in ("false", "off")


def _create_view(cursor: TokenCursor, parameters: Parameters | None, *, or_replace: bool = False) -> Statement:
    name = relation_name(cursor)
    names: list[str] = []
    if cursor.accept("("):
        names.append(cursor.identifier())
        while cursor.accept(","):
            names.append(cursor.identifier())
        cursor.expect(")")
    options = view_options(cursor) if cursor.accept("WITH") else {}
    cursor.expect("AS")
    start = cursor.position - 1
    if parameters is not None:
        raise MillpondError(SqlState.UNDEFINED_PARAMETER, "there are no parameters in a view's definition")
    query = parse_query(" " * start + cursor.text[start:])
    return CreateView(name, or_replace, tuple(names), query, cursor.text[start:], options)


def _replace_view(cursor: TokenCursor, parameters: Parameters | None) -> Statement:
    return _create_view(cursor, parameters, or_replace=True)


def _create_continuous_query(
    cursor: TokenCursor, parameters: Parameters | None, *, or_replace: bool = False
) -> Statement:
    header = read_header(cursor)
    start = cursor.position - 1
    if parameters is not None:
        raise MillpondError(SqlState.UNDEFINED_PARAMETER, "there are no parameters in a continuous query's definition")
    defined, text = parse_definition(cursor.text, start), cursor.text[start:]
    return CreateContinuousQuery(header.name, or_replace, header.if_not_exists, defined, text, header.options)


def _replace_continuous_query(cursor: TokenCursor, parameters: Parameters | None) -> Statement:
    return _create_continuous_query(cursor, parameters, or_replace=True)


def _declare(cursor: TokenCursor, parameters: Parameters | None) -> Statement:
    def query_from(start: int) -> exp.Query:
        return parse_query(" " * start + cursor.text[start:], parameters)

    return read_declare(cursor, query_from, lambda: _subscribe(cursor, parameters))


def _subscribe(cursor: TokenCursor, parameters: Parameters | None) -> Subscribe:
    return read_subscribe(cursor, lambda text: parse_query(text, parameters))


def parse_subscription(what: str, values: Values | None = None) -> Subscribe:
    """SUBSCRIBE to what Python names: a relation, or a query with its values."""
    text, parameters = (what, None) if values is None else Parameters.of(what, values)
    subject = f"({text})" if is_query(TokenCursor(text)) else text
    cursor = TokenCursor(f"SUBSCRIBE TO {subject}")
    cursor.expect("SUBSCRIBE")
    return _subscribe(cursor, parameters)


_BY_WORDS: Sequence[tuple[tuple[str, ...], Callable[[TokenCursor, Parameters | None], Statement]]] = (
    (("COPY",), _copy),
    (("DECLARE",), _declare),
    (("SUBSCRIBE",), _subscribe),
    (("EXPLAIN",), _explain),
    (("CREATE", "VIEW"), _create_view),
    (("CREATE", "CONTINUOUS", "VIEW"), _create_view),
    (("CREATE", "CONTINUOUS", "QUERY"), _create_continuous_query),
    (("CREATE", "OR", "REPLACE", "CONTINUOUS", "QUERY"), _replace_continuous_query),
    (("CREATE", "OR", "REPLACE", "VIEW"), _replace_view),
    (("CREATE", "OR", "REPLACE", "CONTINUOUS", "VIEW"), _replace_view),
)


def _syntax_error(text: str, error: ParseError) -> MillpondError:
    """sqlglot's parse error in PostgreSQL's words: it names the last token that it read."""
    first = error.errors[0] if error.errors else {}
    line, column = first.get("line"), first.get("col")
    tokens = tokenize(text)
    if line is None or column is None or not tokens:
        return syntax_error(text, None)
    end = sum(len(row) + 1 for row in text.split("\n")[: line - 1]) + column
    near = next((token for token in tokens if token.end + 1 >= end), None)
    wanted_more = near is tokens[-1] and "Unexpected token" not in first.get("description", "")
    return syntax_error(text, None if wanted_more else near)
