"""PostgreSQL's wire protocol as values: bytes in, messages out, and back. Pure: no sockets, no session, no SQL."""
