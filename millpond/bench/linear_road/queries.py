"""Linear Road as SQL: one stream, a cycle query that runs each minute, and the tables that it writes and reads again.

What a minute needs of those before it is in tables that the query wrote itself: averages of segments, where cars stood
still, and where each car was last.
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
CREATE TABLE stopped ("time" int, vid int, xway smallint, dir smallint, seg smallint, pos int);
CREATE TABLE car (minute int, vid int, xway smallint, dir smallint, seg smallint);
CREATE TABLE notification ("time" int, vid int, xway smallint, dir smallint, seg smallint, toll bigint);
CREATE TABLE half_minute (half int, vid int, xway smallint, dir smallint, seg smallint, speed int);
CREATE TABLE paid (vid int, xway smallint, day smallint, amount int);
CREATE TABLE balance (qid int, amount bigint);
CREATE TABLE expenditure (qid int, amount int);
"""

_REPORTS = """reports AS (
  SELECT "time", vid, speed, xway, lane, dir, seg, pos FROM {cycle} WHERE type = {position}
)"""

_MINUTE = """minute_reports AS (SELECT * FROM reports)"""

# A minute ends with every second half of it; what was told in the first is in a table.
_TWO_HALVES = """minute_reports AS (
  SELECT "time", vid, speed, xway, dir, seg FROM reports WHERE "time" / {report_s} % 2 = 1
  UNION ALL SELECT h.half * {report_s}, h.vid, h.speed, h.xway, h.dir, h.seg FROM half_minute h
  WHERE h.half = (SELECT max("time") / {report_s} - 1 FROM reports WHERE "time" / {report_s} % 2 = 1)
)"""

_STATISTICS = """statistics AS (
  SELECT "time" / 60 AS minute, xway, dir, seg, count(DISTINCT vid) AS cars,
    CAST(avg(speed) AS numeric(12,6)) AS average
  FROM minute_reports GROUP BY "time" / 60, xway, dir, seg
)"""

# The mean of the last minutes in which a segment had cars, without rounding: total and number are compared.
_LATEST = """latest AS (
  SELECT xway, dir, seg, sum(average) AS total, count(*) AS minutes
  FROM (
    SELECT m.xway, m.dir, m.seg, m.average,
      row_number() OVER (PARTITION BY m.xway, m.dir, m.seg ORDER BY m.minute DESC) AS place
    FROM segment_minute m
  ) ranked WHERE place < {averaged} GROUP BY xway, dir, seg
)"""

# A car that does not move is where it was at its last report: after so many reports without speed it has told the
# same place once more often. Hardly any car stands still, so that all that did can be looked at.
_ACCIDENTS = """still AS (
  SELECT DISTINCT "time", vid, xway, dir, seg, pos FROM reports WHERE speed = 0
), stops AS (
  SELECT n."time", n.vid, n.xway, n.dir, n.seg, n.pos FROM {standing} n
  JOIN (SELECT * FROM still UNION ALL SELECT * FROM stopped) b
    ON b.vid = n.vid AND b.pos = n.pos AND b."time" <= n."time" AND b."time" > n."time" - {stopped_s}
  GROUP BY n."time", n.vid, n.xway, n.dir, n.seg, n.pos HAVING count(*) = {stopped_reports}
), accidents AS (
  SELECT xway, dir, seg FROM stops GROUP BY xway, dir, seg, pos HAVING count(DISTINCT vid) >= {stopped_cars}
), affected AS (
  SELECT DISTINCT a.xway, a.dir, a.seg + CASE WHEN a.dir = {east} THEN -n.distance ELSE n.distance END AS seg
  FROM accidents a CROSS JOIN generate_series(0, {accident_segments} - 1) AS n(distance)
)"""

# What is known of a segment comes together in one grouping: joins would take Spark a job each.
_TOLLS = """known AS (
  SELECT xway, dir, seg, minute, cars, average, 0 AS total, 1 AS minutes FROM statistics
  UNION ALL SELECT xway, dir, seg, NULL, NULL, NULL, total, minutes FROM latest
), tolls AS (
  SELECT max(minute) AS minute, xway, dir, seg, max(cars) AS cars, max(average) AS average,
    CASE WHEN max(cars) > {busy} AND max(average) + sum(total) < {slow} * sum(minutes) AND NOT bool_or(is_affected)
      THEN 2 * (max(cars) - {busy}) * (max(cars) - {busy}) ELSE 0 END AS toll
  FROM (
    SELECT *, FALSE AS is_affected FROM known
    UNION ALL SELECT xway, dir, seg, NULL, NULL, NULL, NULL, NULL, TRUE FROM affected
  ) k GROUP BY xway, dir, seg HAVING max(minute) IS NOT NULL
)"""

# The report before one is of the same minute, or else the last of the minute before.
_ENTRIES = """places AS (
  SELECT p.minute * 60 AS "time", p.vid, p.xway, p.dir, p.seg, NULL AS lane FROM car p
  WHERE p.minute = (SELECT min("time") / 60 - 1 FROM reports)
  UNION ALL SELECT "time", vid, xway, dir, seg, lane FROM reports
), moves AS (
  SELECT "time", vid, xway, dir, seg, lane,
    lag(seg) OVER w IS DISTINCT FROM seg OR lag(dir) OVER w IS DISTINCT FROM dir
      OR lag(xway) OVER w IS DISTINCT FROM xway AS entered
  FROM places WINDOW w AS (PARTITION BY vid ORDER BY "time")
), notifications AS (
  SELECT m."time", m.vid, m.xway, m.dir, m.seg, coalesce(t.toll, 0) AS toll
  FROM moves m LEFT JOIN segment_minute t
    ON t.minute = m."time" / 60 - 1 AND t.xway = m.xway AND t.dir = m.dir AND t.seg = m.seg
  WHERE m.lane <> {exit_lane} AND m.entered
)"""

# A car reports once in a cycle of half a minute: the report before was told in the cycle before.
_TOLD = """SELECT r."time", r.vid, r.xway, r.dir, r.seg, coalesce(t.toll, 0) AS toll
  FROM {cycle} r
  LEFT JOIN half_minute h
    ON h.vid = r.vid AND h.half = CAST(extract(epoch FROM window_start) AS int) / {report_s} - 1
  LEFT JOIN segment_minute t ON t.minute = CAST(extract(epoch FROM window_start) AS int) / 60 - 1
    AND t.xway = r.xway AND t.dir = r.dir AND t.seg = r.seg
  WHERE r.type = {position} AND r.lane <> {exit_lane}
    AND (h.vid IS NULL OR h.seg <> r.seg OR h.dir <> r.dir OR h.xway <> r.xway)"""

_STANDING_NOW = """(
    SELECT * FROM still
    UNION ALL SELECT * FROM stopped WHERE "time" / 60 = (SELECT max("time") / 60 FROM reports)
  )"""

_SETTLEMENT = """
INSERT INTO car SELECT "time" / 60, vid, xway, dir, seg FROM (
  SELECT *, row_number() OVER (PARTITION BY vid ORDER BY "time" DESC) AS place FROM reports
) r WHERE place = 1;
INSERT INTO notification SELECT * FROM notifications;
INSERT INTO balance SELECT q.qid, coalesce(sum(n.toll), 0)
  FROM {cycle} q LEFT JOIN notification n ON n.vid = q.vid
  WHERE q.type = {balance} GROUP BY q.qid;
INSERT INTO expenditure SELECT q.qid, coalesce(p.amount, 0)
  FROM {cycle} q
  LEFT JOIN paid p ON p.vid = q.vid AND p.xway = q.xway AND p.day = q.day WHERE q.type = {expenditure}
"""


def toll_query(cycles: int, *, persisted: bool = True) -> str:
    """The tolls of each minute; if they are not persisted, what a cycle makes is thrown away."""
    condition = "" if persisted else " WHERE cars < 0"
    ctes = ",\n".join((_REPORTS, _MINUTE, _STATISTICS, _LATEST, _ACCIDENTS, _TOLLS))
    return _filled(
        f"CREATE CONTINUOUS QUERY road AS (WITH {ctes}\n"
        f"INSERT INTO segment_minute SELECT * FROM tolls{condition};\n"
        f"INSERT INTO stopped SELECT * FROM still{' WHERE vid < 0' if not persisted else ''})",
        cycles,
    )


def whole_query(cycles: int) -> str:
    """The tolls, what each car is told, and the answers to its questions."""
    ctes = ",\n".join((_REPORTS, _MINUTE, _STATISTICS, _LATEST, _ACCIDENTS, _TOLLS, _ENTRIES))
    return _filled(
        f"CREATE CONTINUOUS QUERY road AS (WITH {ctes}\n"
        f"INSERT INTO segment_minute SELECT * FROM tolls;\n"
        f"INSERT INTO stopped SELECT * FROM still;{_SETTLEMENT})",
        cycles,
    )


def told_query(minutes: int) -> str:
    """The tolls, and what each car is told, which goes to subscribers as its reports arrive: in cycles of half a
    minute, so that all that has to be known of cars and tolls is of cycles before."""
    ctes = ",\n".join((_REPORTS, _TWO_HALVES, _STATISTICS, _LATEST, _ACCIDENTS, _TOLLS))
    return _filled(
        f"CREATE CONTINUOUS QUERY road AS (WITH {ctes}\n"
        "INSERT INTO segment_minute SELECT * FROM tolls;\n"
        "INSERT INTO stopped SELECT * FROM still;\n"
        'INSERT INTO half_minute SELECT "time" / {report_s}, vid, xway, dir, seg, speed FROM reports;\n'
        f"INSERT INTO notification {_TOLD};\n"
        f"EMIT {_TOLD})",
        60 // REPORT_S * minutes,
        REPORT_S,
    )


def _filled(text: str, cycles: int, cycle_s: int = 60) -> str:
    # One report less than those that tell the same place: the first of them still had speed.
    stopped = STOPPED_REPORTS - 1
    standing = "still" if cycle_s == 60 else _STANDING_NOW
    return text.replace("{standing}", standing).format(
        cycle=f"CYCLE(report, INTERVAL '{cycle_s} seconds', cycles => {cycles})",
        report_s=REPORT_S,
        position=POSITION,
        balance=BALANCE,
        expenditure=EXPENDITURE,
        averaged=AVERAGED_MINUTES,
        stopped_reports=stopped,
        stopped_s=stopped * REPORT_S,
        stopped_cars=STOPPED_CARS,
        accident_segments=ACCIDENT_SEGMENTS,
        east=EAST,
        busy=BUSY_CARS,
        slow=SLOW_MPH,
        exit_lane=EXIT_LANE,
    )
