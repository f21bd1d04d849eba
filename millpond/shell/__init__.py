"""The SQL shell behind `millpond sql`: reads statements, runs them on a backend, prints what comes back.

`split` cuts input into statements, `backend` names what the shell needs of a database (`pond` and `postgres` are the
two there are), `session` runs, `commands` holds the backslash commands, `table` and `failure` print, `prompt` edits.
"""
