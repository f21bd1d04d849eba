"""The PostgreSQL server: connections on asyncio, the protocol on `millpond.wire`, statements in threads."""
