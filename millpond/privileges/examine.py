"""Which settings a role gets to see: those that tell of the server's directories are for superusers."""

from __future__ import annotations

from millpond.errors import MillpondError, SqlState
from millpond.privileges.authority import Authority
from millpond.session_settings import SessionSettings
from millpond.setting import Setting


def may_examine(setting: Setting, authority: Authority) -> bool:
    return setting.unit != "path" or authority.superuser


def examined(settings: SessionSettings, name: str, authority: Authority) -> str:
    """A setting's value, or an error for those who may not see it."""
    if not may_examine(settings.find(name), authority):
        message, detail = f'permission denied to examine "{name}"', "Only superusers may see directories."
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail=detail)
    return settings.show(name)
