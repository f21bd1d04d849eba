"""PostgreSQL's reserved words, as pg_get_keywords lists them: clients put names like these in quotes."""

from __future__ import annotations

import json

_RESERVED = """
all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc distinct
do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit
localtime localtimestamp not null offset on only or order placing primary references returning select session_user some
symmetric system_user table then to trailing true union unique user using variadic when where window with
""".split()

KEYWORDS = json.dumps([{"word": word, "catcode": "R", "catdesc": "reserved"} for word in _RESERVED])
"""As a JSON array of rows."""
