"""Spark SQL templates: text with `_1`, `_2`, ... for arguments, parsed once, and filled with trees, never with text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice

import sqlglot
from sqlglot import exp

from millpond.sql.dialect import SparkTemplate
from millpond.sql.nodes import annotate, note_of

_COPIED_NODES_MAX = 25
"""An argument of more nodes than this is not copied to several places: copies of copies would grow without bound."""


def fill(template: str, *arguments: exp.Expr) -> exp.Expr:
    """The template with its arguments put in; `_all` in a list of arguments stands for all of them.

    An argument that stands in several places and is long, or differs each time it is asked for, is computed once.

    >>> fill("COALESCE(_1, _2)", exp.column("a"), exp.column("b")).sql()
    'COALESCE(a, b)'
    """
    tree = parsed(template).copy()
    repeated = [place for place, count in _slots(template).items() if count > 1]
    if any(_is_costly(arguments[place - 1]) for place in repeated):
        return _computed_once(tree, arguments)
    return fill_prepared(tree, arguments)


def fill_prepared(tree: exp.Expr, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A parsed template with its arguments put in; the tree is changed."""
    if _is_slot(tree):
        return _argument(tree, arguments)
    for node in list(tree.find_all(exp.Column)):
        if node.name == "_all":
            _spread(node, arguments)
        elif _is_slot(node):
            node.replace(_argument(node, arguments))
    return tree


def fill_like(original: exp.Expr, template: str, *arguments: exp.Expr) -> exp.Expr:
    """The filled template, in the place of `original`: it keeps its type."""
    return alike(original, fill(template, *arguments))


def alike(original: exp.Expr, made: exp.Expr) -> exp.Expr:
    """A node made to replace another, with the other's type."""
    return annotate(made, type=note_of(original).type)


def rewrite(tree: exp.Expr, rule: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Applies a rule to every node, children first. The tree is changed; the root is returned."""
    for key, value in list(tree.args.items()):
        if isinstance(value, exp.Expr):
            made = rewrite(value, rule)
            if made is not value:
                tree.set(key, made)
        elif isinstance(value, list):
            items = [rewrite(item, rule) if isinstance(item, exp.Expr) else item for item in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                tree.set(key, items)
    return rule(tree)


@lru_cache(maxsize=2048)
def parsed(template: str) -> exp.Expr:
    """The template's tree, shared: copy it before changing it. Lambdas have the parentheses that Spark wants."""
    tree = sqlglot.parse_one(template, dialect=SparkTemplate)
    for one in tree.find_all(exp.Lambda):
        if len(one.expressions) > 1:
            one.set("expressions", [exp.Tuple(expressions=one.expressions)])
    return tree


@lru_cache(maxsize=2048)
def _slots(template: str) -> dict[int, int]:
    """How often each argument stands in the template."""
    return Counter(int(node.name[1:]) for node in parsed(template).find_all(exp.Column) if _is_slot(node))


def _is_costly(argument: exp.Expr) -> bool:
    if next(islice(argument.walk(), _COPIED_NODES_MAX, None), None) is not None:
        return True
    return is_volatile(argument)


def is_volatile(tree: exp.Expr) -> bool:
    """Whether an expression may have another value each time."""
    return any(_calls_volatile(node) for node in tree.walk())


def _calls_volatile(node: exp.Expr) -> bool:
    function = note_of(node).function
    return (function is not None and function.volatile) or (isinstance(node, exp.Anonymous) and node.this == "RAND")


def _computed_once(tree: exp.Expr, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """Spark has no LET: the arguments become the fields of a struct, and the template a function over it.

    `f(_1, _1)` -> `ELEMENT_AT(TRANSFORM(ARRAY(NAMED_STRUCT('_1', ...)), given -> f(given._1, given._1)), 1)`
    """
    names = [f"_{place}" for place in range(1, len(arguments) + 1)]
    fields = [exp.Column(this=exp.to_identifier(name), table=exp.to_identifier("given")) for name in names]
    body = exp.Lambda(this=fill_prepared(tree, fields), expressions=[exp.to_identifier("given")])
    pairs = [part for name, value in zip(names, arguments, strict=True) for part in (exp.Literal.string(name), value)]
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[part.copy() for part in pairs])
    array = exp.Anonymous(this="ARRAY", expressions=[struct])
    mapped = exp.Anonymous(this="TRANSFORM", expressions=[array, body])
    return exp.Anonymous(this="ELEMENT_AT", expressions=[mapped, exp.Literal.number(1)])


def _is_slot(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name[:1] == "_" and node.name[1:].isdigit() and not node.table


def _argument(slot: exp.Expr, arguments: Sequence[exp.Expr]) -> exp.Expr:
    return arguments[int(slot.name[1:]) - 1].copy()


def _spread(slot: exp.Expr, arguments: Sequence[exp.Expr]) -> None:
    call = slot.parent
    assert isinstance(call, exp.Anonymous)
    kept = [item for item in call.expressions if item is not slot]
    call.set("expressions", [*kept, *(argument.copy() for argument in arguments)])
