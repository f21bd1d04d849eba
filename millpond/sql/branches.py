"""The INSERTs of a continuous query's definition: one, or several with a `;` between them.

    WITH c AS (SELECT ...) INSERT INTO a SELECT ... FROM c; INSERT INTO b SELECT ... FROM c

They may stand in parentheses, which clients do not cut at a `;`. The WITH of the first is for all of them. One of them
may be `EMIT SELECT ...` instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from millpond.sql.named_relations import relation_names
from millpond.sql.nodes import fold
from millpond.sql.tokens import syntax_error, tokenize

_EMIT = "EMIT"


def branch_texts(text: str, start: int = 0) -> list[str]:
    """The INSERTs of the definition that begins at `start`, each at its place, with blanks before it.

    >>> branch_texts("(INSERT INTO a SELECT 1; INSERT INTO b SELECT 2;)")
    [' INSERT INTO a SELECT 1', '                         INSERT INTO b SELECT 2']
    """
    tokens = [token for token in tokenize(text) if token.start >= start]
    end = len(text)
    if tokens and tokens[0].token_type is TokenType.L_PAREN:
        *tokens, closing = _inside(text, tokens)
        end = closing.start
    found: list[str] = []
    for piece in cut(tokens):
        if piece[0].text.upper() not in ("INSERT", "WITH", _EMIT):
            raise syntax_error(text, piece[0])
        found.append(" " * piece[0].start + text[piece[0].start : piece[-1].end + 1])
    if not found:
        raise syntax_error(text[:end], None)
    return found


def emitted(text: str) -> str | None:
    """The query that a branch emits, at its place; None if it is an INSERT.

    >>> emitted("WITH c AS (SELECT 1) EMIT SELECT * FROM c"), emitted("INSERT INTO emit SELECT 1")
    ('WITH c AS (SELECT 1)      SELECT * FROM c', None)
    """
    tokens = tokenize(text)
    for place, (token, depth) in enumerate(zip(tokens, _depths(tokens), strict=True)):
        word = token.text.upper()
        if depth == 0 and word == "INSERT":
            return None
        if depth == 0 and word == _EMIT and (place == 0 or tokens[place - 1].token_type is TokenType.R_PAREN):
            return f"{text[: token.start]}{' ' * len(_EMIT)}{text[token.end + 1 :]}"
    return None


def _inside(text: str, tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens after the first, which is a parenthesis, up to the one that closes it. Nothing may follow but `;`."""
    depths = _depths(tokens)
    closing = next((place for place in range(1, len(tokens)) if depths[place] == 0), None)
    if closing is None:
        raise syntax_error(text, None)
    after = [token for token in tokens[closing + 1 :] if token.token_type is not TokenType.SEMICOLON]
    if after:
        raise syntax_error(text, after[0])
    return tokens[1 : closing + 1]


def _depths(tokens: Sequence[Token]) -> list[int]:
    """In how many parentheses one is after each token."""
    depths, depth = [], 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        depths.append(depth)
    return depths


def cut(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens between semicolons outside of parentheses."""
    pieces: list[list[Token]] = [[]]
    for token, depth in zip(tokens, _depths(tokens), strict=True):
        if token.token_type is TokenType.SEMICOLON and depth <= 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]


def share_with(inserts: Sequence[exp.Insert | exp.Query]) -> None:
    """Give each branch what it reads of the WITH of the first, in front of its own; what none reads is the first's."""
    shared = inserts[0].args.get("with_")
    if len(inserts) == 1 or shared is None:
        return
    inserts[0].set("with_", None)
    ctes = list(shared.expressions)
    needed = [_needed(ctes, _reads(insert)) for insert in inserts]
    unused = {_name(cte) for cte in ctes}.difference(*needed)
    for insert, names in zip(inserts, [needed[0] | unused, *needed[1:]], strict=True):
        own = insert.args.get("with_")
        kept = [cte.copy() for cte in ctes if _name(cte) in names]
        merged = [*kept, *(own.expressions if own is not None else ())]
        recursive = any(one is not None and one.args.get("recursive") for one in (shared, own))
        insert.set("with_", exp.With(expressions=merged, recursive=recursive) if merged else None)


def reads_any(insert: exp.Insert, names: set[str]) -> bool:
    """Whether an INSERT reads a relation of one of these names."""
    return bool(_reads(insert) & names)


def names_of_with(insert: exp.Expr) -> set[str]:
    """The names that the WITH of an INSERT defines."""
    with_ = insert.args.get("with_")
    return set() if with_ is None else {_name(cte) for cte in with_.expressions}


def _needed(ctes: Sequence[exp.Expr], read: set[str]) -> set[str]:
    """The names of those CTEs that are read, directly or by others that are."""
    needed: set[str] = set()
    for cte in reversed(ctes):
        if _name(cte) in read | needed:
            needed |= {_name(cte), *relation_names(cte.this.copy())}
    return needed & {_name(cte) for cte in ctes}


def _reads(branch: exp.Insert | exp.Query) -> set[str]:
    """What a branch reads that its own WITH does not define."""
    own = branch.args.get("with_")
    query = branch.expression if isinstance(branch, exp.Insert) else branch.copy()
    if query is not branch.expression:
        query.set("with_", None)
    parts = [query, *(own.expressions if own is not None else ())]
    return {name for part in parts if part is not None for name in relation_names(part)}


def _name(cte: exp.Expr) -> str:
    return fold(cte.args["alias"].this)
