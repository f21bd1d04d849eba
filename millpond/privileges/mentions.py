"""Which roles a record of the catalog names: none of them may be dropped as long as the record stands."""

from __future__ import annotations

from millpond.namespace import Namespace
from millpond.privileges.acl import roles_in
from millpond.relation import Relation
from millpond.roles import Role


def roles_mentioned(record: Relation | Namespace | Role) -> set[str]:
    """The owner, those who were granted something and those who granted it."""
    if isinstance(record, Role):
        return {name for one in record.member_of for name in (one.role, one.grantor)}
    mentioned = {record.owner, *roles_in(record.acl or ())}
    if isinstance(record, Relation):
        for acl in record.column_acls.values():
            mentioned |= roles_in(acl)
    return mentioned
