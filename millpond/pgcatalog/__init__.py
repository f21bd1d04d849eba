"""pg_catalog and information_schema: what clients ask a PostgreSQL server about itself, answered by SQLite.

    relations.txt      the relations and their columns, as PostgreSQL 16 has them
    types.py           PostgreSQL's types
    declarations.py    both, read
    objects.py         the pond's relations, keys and roles, with oids
    relation_rows.py, server_rows.py, information.py    what stands in the relations
    functions.py, text_functions.py, collectors.py      functions that queries call, such as format_type
    database.py        an SQLite database in memory, filled with what a query reads

Queries come as SQLite's SQL from `millpond.sql.sqlite`.
"""
