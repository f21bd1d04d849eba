"""What a cycle query may emit of its open cycle: rows that flow, perhaps with calls that remember rows of a key.

    SELECT car, segment
    FROM (SELECT *, change_point(segment) OVER (PARTITION BY car) AS enters FROM CYCLE(report, ...)) r WHERE enters

Such a call takes the rows of a key as they arrive, so that what it gives does not depend on which arrive together.
"""

from __future__ import annotations

from dataclasses import replace

from millpond.errors import not_supported
from millpond.plan.cycle import CycleQuery
from millpond.plan.history_cut import cut_history
from millpond.plan.row_flow import row_flow
from millpond.sql.nodes import position_of


def emitting(source: CycleQuery) -> CycleQuery:
    """The query with the tid of each row's tuple as its last output, or an error if its rows do not flow."""
    flow = row_flow(source.query, remembers=True)
    cuts, rest = cut_history(flow.query)
    for window in (window for cut in cuts for window in cut.windows):
        if len(window.order) != 1:
            hint = "Leave ORDER BY out, and call it where the stream stands in FROM: rows come as they arrive."
            what = f"{window.calls[0].function} over rows in another order than that of their arrival, in EMIT,"
            raise not_supported(what, hint=hint, position=position_of(source.query.tree))
    return replace(source, query=flow.query, cuts=cuts, rest=rest)
