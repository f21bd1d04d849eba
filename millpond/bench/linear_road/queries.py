"""Linear Road as SQL: one stream, and a cycle query that runs each minute.

What a minute needs of those before it, functions remember: averages of segments, where cars stood still, and where each
car was last.
"""

from __future__ import annotations

from millpond.bench.linear_road.road import (
    ACCIDENT_SEGMENTS,
    AVERAGED_MINUTES,
    BALANCE,
    BUSY_CARS,
    EAST,
    EXIT_LANE,
    EXPENDITURE,
    POSITION,
    REPORT_S,
    SLOW_MPH,
    STOPPED_CARS,
    STOPPED_REPORTS,
)

STREAM = """
CREATE STREAM report (
  type smallint, "time" int, vid int, speed int, xway smallint, lane smallint, dir smallint, seg smallint, pos int,
  qid int, day smallint, at timestamptz NOT NULL
) WITH (timestamp = at, durability = 'memory', capacity = {capacity})
"""

TABLES = """
CREATE TABLE segment_minute (
  minute int, xway smallint, dir smallint, seg smallint, cars bigint, average numeric(12,6), toll bigint
);
CREATE TABLE notification ("time" int, vid int, xway smallint, dir smallint, seg smallint, toll bigint);
CREATE TABLE paid (vid int, xway smallint, day smallint, amount int);
CREATE TABLE balance (qid int, amount bigint);
CREATE TABLE expenditure (qid int, amount int);
"""

_REPORTS = """reports AS (
  SELECT "time", vid, speed, xway, lane, dir, seg, pos FROM {cycle} WHERE type = {position}
)"""

_STATISTICS = """statistics AS (
  SELECT "time" / 60 AS minute, xway, dir, seg, count(DISTINCT vid) AS cars,
    CAST(CAST(sum(speed) AS numeric) / count(*) AS numeric(12,6)) AS average
  FROM reports GROUP BY "time" / 60, xway, dir, seg
)"""

# The mean of the last minutes in which a segment had cars, without rounding: total and number are compared.
_LATEST = """latest AS (
  SELECT *, moving_sum(average, {averaged}) OVER w AS total, moving_sum(1, {averaged}) OVER w AS minutes
  FROM statistics WINDOW w AS (PARTITION BY xway, dir, seg ORDER BY minute)
)"""

# A car that does not move is where it was at its last report: after so many reports without speed it has told the
# same place once more often.
_ACCIDENTS = """still AS (
  SELECT "time", vid, xway, dir, seg, pos,
    lag_cycle("time", {still_before}) OVER (PARTITION BY vid, pos ORDER BY "time") AS since
  FROM reports WHERE speed = 0
), accidents AS (
  SELECT xway, dir, seg FROM still WHERE since = "time" - {still_s}
  GROUP BY xway, dir, seg, pos HAVING count(DISTINCT vid) >= {stopped_cars}
)"""

# An accident costs nothing where cars come to it: in the segments before, in their direction.
_TOLLS = """known AS (
  SELECT minute, xway, dir, seg, cars, average, total, minutes, FALSE AS has_accident FROM latest
  UNION ALL SELECT NULL, xway, dir, seg, NULL, NULL, NULL, NULL, TRUE FROM accidents
), tolls AS (
  SELECT minute, xway, dir, seg, cars, average,
    CASE WHEN cars > {busy} AND total < {slow} * minutes AND NOT bool_or(has_accident) OVER (
      PARTITION BY xway, dir ORDER BY CASE WHEN dir = {east} THEN seg ELSE -seg END
      RANGE BETWEEN CURRENT ROW AND {segments_ahead} FOLLOWING
    ) THEN 2 * (cars - {busy}) * (cars - {busy}) ELSE 0 END AS toll
  FROM known
)"""

# In the order in which they arrive, so that it can be said at once.
_MOVES = """(
    SELECT "time", vid, xway, dir, seg, lane, change_point(xway, dir, seg) OVER (PARTITION BY vid) AS entered
    FROM {cycle} WHERE type = {position}
  )"""

_TOLD = f"""SELECT m."time", m.vid, m.xway, m.dir, m.seg, coalesce(t.toll, 0) AS toll
  FROM {_MOVES} m LEFT JOIN segment_minute t
    ON t.minute = m."time" / 60 - 1 AND t.xway = m.xway AND t.dir = m.dir AND t.seg = m.seg
  WHERE m.entered AND m.lane <> {{exit_lane}}"""

_ANSWERS = """
INSERT INTO balance SELECT q.qid, coalesce(sum(n.toll), 0)
  FROM {cycle} q LEFT JOIN notification n ON n.vid = q.vid
  WHERE q.type = {balance} GROUP BY q.qid;
INSERT INTO expenditure SELECT q.qid, coalesce(p.amount, 0)
  FROM {cycle} q
  LEFT JOIN paid p ON p.vid = q.vid AND p.xway = q.xway AND p.day = q.day WHERE q.type = {expenditure}
"""

_INSERT_TOLLS = "INSERT INTO segment_minute SELECT * FROM tolls WHERE minute IS NOT NULL"


def toll_query(cycles: int, *, persisted: bool = True) -> str:
    """The tolls of each minute; if they are not persisted, what a cycle makes is thrown away."""
    return _query(cycles, _INSERT_TOLLS + ("" if persisted else " AND cars < 0"))


def whole_query(cycles: int) -> str:
    """The tolls, what each car is told, and the answers to its questions."""
    return _query(cycles, f"{_INSERT_TOLLS};\nINSERT INTO notification {_TOLD};{_ANSWERS}")


def told_query(cycles: int) -> str:
    """The tolls, and what each car is told, which goes to subscribers as its reports arrive."""
    return _query(cycles, f"{_INSERT_TOLLS};\nEMIT {_TOLD}")


def _query(cycles: int, branches: str) -> str:
    ctes = ",\n".join((_REPORTS, _STATISTICS, _LATEST, _ACCIDENTS, _TOLLS))
    # One report less than those that tell the same place: the first of them still had speed.
    still_before = STOPPED_REPORTS - 2
    return f"CREATE CONTINUOUS QUERY road AS (WITH {ctes}\n{branches})".format(
        cycle=f"CYCLE(report, INTERVAL '1 minute', cycles => {cycles})",
        position=POSITION,
        balance=BALANCE,
        expenditure=EXPENDITURE,
        averaged=AVERAGED_MINUTES,
        still_before=still_before,
        still_s=still_before * REPORT_S,
        stopped_cars=STOPPED_CARS,
        segments_ahead=ACCIDENT_SEGMENTS - 1,
        east=EAST,
        busy=BUSY_CARS,
        slow=SLOW_MPH,
        exit_lane=EXIT_LANE,
    )
