"""CREATE and DROP FUNCTION: functions in Python, which Spark's workers run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.python_function import PythonFunction, check_body
from millpond.relation import Relation
from millpond.result import Notice, Result
from millpond.sql import functions
from millpond.sql.dml import functions_called
from millpond.sql.parse import parse_definition, parse_query
from millpond.sql.statements import CreateFunction, DropFunction, Name
from millpond.statements.define import dependents_of, drop_relation, words_for
from millpond.statements.execution import Execution


def create(execution: Execution, statement: CreateFunction) -> Result:
    name = _checked(statement.name)
    if functions.find(name) is not None:
        message = f'function "{name}" is one of SQL\'s own'
        raise MillpondError(SqlState.DUPLICATE_FUNCTION, message, position=statement.name.position)
    old = execution.transaction.functions.get(name)
    if old is not None and not statement.or_replace:
        message = f'function "{name}" already exists'
        raise MillpondError(SqlState.DUPLICATE_FUNCTION, message, position=statement.name.position)
    if statement.pickled is None:
        check_body(name, statement.body)
    new = PythonFunction(
        execution.services.catalog.new_oid(),
        name,
        statement.parameters,
        statement.result,
        statement.body,
        statement.keys,
        statement.pickled,
    )
    if old is not None:
        _check_replacement(execution, old, new)
    execution.transaction.change_function(name, new)
    return Result("CREATE FUNCTION")


def drop(execution: Execution, statement: DropFunction) -> Result:
    done, name = Result("DROP FUNCTION"), _checked(statement.name)
    function = execution.transaction.functions.get(name)
    if function is None or not _is_meant(function, statement):
        given = "" if statement.types is None else ", ".join(str(one) for one in statement.types)
        message = f"function {name}({given}) does not exist"
        if not statement.if_exists:
            hint = closest(name, execution.transaction.functions)
            raise MillpondError(SqlState.UNDEFINED_FUNCTION, message, hint=hint, position=statement.name.position)
        execution.notices.append(Notice(f"{message}, skipping"))
        return done
    dependents = list(_dependents(execution, name))
    if dependents and not statement.cascade:
        raise _still_needed("drop", function, dependents, "Use DROP ... CASCADE to drop the dependent objects too.")
    for one in dependents:
        execution.notices.append(Notice(f"drop cascades to {words_for(one)} {one.name}"))
        drop_relation(execution, one)
    execution.transaction.change_function(name, None)
    return done


def _checked(name: Name) -> str:
    if name.schema not in (None, "public"):
        raise not_supported("a function in another schema than public", position=name.position)
    return name.name


def _is_meant(function: PythonFunction, statement: DropFunction) -> bool:
    return statement.types is None or statement.types == tuple(one.type for one in function.parameters)


def _check_replacement(execution: Execution, old: PythonFunction, new: PythonFunction) -> None:
    """As in PostgreSQL a function keeps its types; and what views and continuous queries have made was made by it."""
    kinds = [tuple(one.type for one in function.parameters) for function in (old, new)]
    if kinds[0] != kinds[1] or old.result != new.result or old.keys != new.keys:
        message = f"cannot change the types or keys of function {old.signature}"
        hint = f"Use DROP FUNCTION {old.name} first."
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, message, hint=hint)
    kept = [one for one in _dependents(execution, old.name) if one.kind in ("continuous", "query")]
    if kept:
        hint = "Create a function of another name, or drop them first: they hold what the old one made."
        raise _still_needed("replace", old, kept, hint)


def _dependents(execution: Execution, name: str) -> Iterator[Relation]:
    """The views and continuous queries that call a function, and those that read them, each once."""
    found: dict[str, Relation] = {}
    for relation in execution.transaction.relations.values():
        if relation.definition is None:
            continue
        if name in _called_in(relation.definition, is_query=relation.kind == "query"):
            found |= {one.name: one for one in (relation, *dependents_of(execution, relation, []))}
    yield from found.values()


def _called_in(definition: str, *, is_query: bool) -> set[str]:
    """The names of the functions that the text of a view or a continuous query calls."""
    trees = parse_definition(definition).sources if is_query else [parse_query(definition)]
    return {name for tree in trees for name in functions_called(tree)}


def _still_needed(verb: str, function: PythonFunction, dependents: Sequence[Relation], hint: str) -> MillpondError:
    signature = function.signature
    return MillpondError(
        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
        f"cannot {verb} function {signature} because other objects depend on it",
        detail="\n".join(f"{words_for(one)} {one.name} depends on function {signature}" for one in dependents),
        hint=hint,
    )
