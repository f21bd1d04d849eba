"""Queries about the pond itself, from PostgreSQL's SQL to SQLite's; `millpond.pgcatalog` has the relations.

    translate.py       which queries these are, and the way in
    queries.py         SELECT, set operations, WITH
    from_clause.py     relations, subqueries, functions as relations
    expressions.py, predicates.py, calls.py    everything that has a value
    functions.py       the functions, aggregates and functions with rows: no others exist
    types.py           types of values, casts
    context.py         how expressions are translated
    scope.py           names, and what is known of a statement

Values are SQLite's own, booleans are 0 and 1, arrays are JSON texts, and those of regclass and the like are oids.
Text is written from what was understood, never copied: a construct that is not known here is `UntranslatableError`.
"""
