"""The settings of a server: the limits that it sets its clients, and what it tells them of itself."""

from __future__ import annotations

from millpond.setting import Setting

SERVER_VERSION = "16.0"

FIXED_SETTINGS = (
    Setting(
        "server_version",
        SERVER_VERSION,
        "version",
        "The version of PostgreSQL that clients may take this for: they choose by it what to ask of the catalog.",
        scope="fixed",
        reported=True,
    ),
    Setting("server_version_num", 160_000, "version", "The same, as a number.", scope="fixed"),
    Setting("server_encoding", "UTF8", "encoding", "Text is UTF-8 everywhere.", scope="fixed", reported=True),
    Setting("integer_datetimes", True, "boolean", "Times are counted in microseconds.", scope="fixed", reported=True),
    Setting("in_hot_standby", False, "boolean", "There is no standby.", scope="fixed", reported=True),
    Setting("default_table_access_method", "heap", "name", "Tables have no other; clients compare.", scope="fixed"),
    Setting("max_index_keys", 32, "columns", "As many as clients expect of a key; more work too.", scope="fixed"),
    Setting("max_identifier_length", 63, "bytes", "Longer names work too; clients cut theirs here.", scope="fixed"),
)
"""How things are, for clients that ask."""

SERVER_SETTINGS = (
    Setting(
        "max_connections",
        100,
        "connections",
        "Each may hold a thread while its statement runs; more than this are turned away.",
        minimum=1,
    ),
    Setting(
        "authentication_timeout",
        60_000,
        "ms",
        "A client that has not said who it is by then is cut off, so that strangers cannot hold connections.",
        minimum=1000,
    ),
    Setting(
        "startup_message_bytes_max",
        10_000,
        "bytes",
        "The largest message before authentication, as in PostgreSQL: strangers get little memory.",
        minimum=1000,
    ),
    Setting(
        "message_bytes_max",
        256 << 20,
        "bytes",
        "The largest message of a client: it is held in memory as a whole.",
        minimum=10_000,
    ),
    Setting(
        "input_buffer_bytes",
        4 << 20,
        "bytes",
        "What is read ahead of a client that sends faster than its statements run, such as by COPY.",
        minimum=65_536,
    ),
    Setting(
        "output_buffer_bytes",
        256 << 10,
        "bytes",
        "Results are sent in pieces of about this size; a slow client makes its own statement wait.",
        minimum=1024,
    ),
    Setting(
        "result_memory_bytes",
        64 << 20,
        "bytes",
        "A result that may be larger, by Spark's estimate, goes by way of files instead of memory.",
    ),
    Setting(
        "copy_record_bytes_max",
        256 << 20,
        "bytes",
        "A longer record that COPY reads is refused; beside one it holds some blocks of 8 MB in memory.",
        minimum=1024,
    ),
    Setting(
        "copy_directory",
        "",
        "path",
        "Where superusers may COPY from and to files of the server; nowhere if empty.",
    ),
)
"""Limits, of the pond that is served."""

IDENTITY_SETTINGS = (
    Setting(
        "session_authorization",
        "millpond",
        "role",
        "Whom the session acts for: who logged in, unless a superuser said SET SESSION AUTHORIZATION.",
        scope="session",
        reported=True,
    ),
    Setting("role", "none", "role", "As which role, if it is in it, the session acts: SET ROLE.", scope="session"),
)
"""Who a session is; `millpond.privileges.identity` says what comes of them."""


def full_version() -> str:
    """What version() answers."""
    from millpond import __version__

    return f"PostgreSQL {SERVER_VERSION} (Millpond {__version__})"
