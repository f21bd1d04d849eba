SELECT window_start, window_end, part, count(*) FROM TUMBLE(part_usage, INTERVAL '1 minute') w GROUP BY part, window_start, window_end;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `w`.`part` AS `k0`, (UNIX_MICROS(CAST(`w`.`arrival_timestamp` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`w`.`arrival_timestamp` AS TIMESTAMP)), 60000000)) DIV /* bigint */ 60000000 AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `w` GROUP BY `w`.`part`, (UNIX_MICROS(CAST(`w`.`arrival_timestamp` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`w`.`arrival_timestamp` AS TIMESTAMP)), 60000000)) DIV /* bigint */ 60000000
  window: tumble of 1min, 1 panes by arrival_timestamp
  key k0 STRING: w.part
  key k1 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`window_start` AS TIMESTAMP) AS `c0`, CAST(`window_end` AS TIMESTAMP) AS `c1`, CAST(`merged_0`.`k0` AS STRING) AS `c2`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c3` FROM `state_0` AS `merged_0`

SELECT part, sum(cost) FROM HOP(part_usage, 100, 1000) WHERE worker > 3 GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `hop`.`part` AS `k0`, (`hop`.`tid` - PMOD(`hop`.`tid`, 100)) DIV /* bigint */ 100 AS `k1`, SUM(SHIFTRIGHT(CAST(`hop`.`cost` * 100 AS BIGINT), 32)) AS `p0`, SUM(CAST(`hop`.`cost` * 100 AS BIGINT) & 4294967295) AS `p1` FROM `part_usage` AS `hop` WHERE `hop`.`worker` > 3 GROUP BY `hop`.`part`, (`hop`.`tid` - PMOD(`hop`.`tid`, 100)) DIV /* bigint */ 100
  window: hop of 1000 rows each 100 rows, 10 panes by tid
  key k0 STRING: hop.part
  key k1 BIGINT: pane
  partial p0 BIGINT: high of sum(hop.cost)
  partial p1 BIGINT: low of sum(hop.cost)
  merge
    SELECT k0, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `c1` FROM `state_0` AS `merged_0`

SELECT count(*) FROM HOP(part_usage, at, '5 minutes', '1 hour');
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT (UNIX_MICROS(CAST(`hop`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`hop`.`at` AS TIMESTAMP)), 300000000)) DIV /* bigint */ 300000000 AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `hop` GROUP BY (UNIX_MICROS(CAST(`hop`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`hop`.`at` AS TIMESTAMP)), 300000000)) DIV /* bigint */ 300000000
  window: hop of 1h each 5min, 12 panes by at
  key k0 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

-- The stream may be in a subquery, and its bounds be read through it.
SELECT w.window_end, count(*) FROM (SELECT * FROM TUMBLE(part_usage, 10) t WHERE worker > 3) w GROUP BY w.window_end;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(TRUE AS BOOLEAN) AS `k0`, `w`.`pane of row 0` AS `k1`, COUNT(*) AS `p0` FROM (SELECT `t`.`part_id` AS `part_id`, `t`.`part` AS `part`, `t`.`station` AS `station`, `t`.`worker` AS `worker`, `t`.`weight` AS `weight`, `t`.`cost` AS `cost`, `t`.`at` AS `at`, (`t`.`tid` - PMOD(`t`.`tid`, 10)) DIV /* bigint */ 10 AS `pane of row 0` FROM `part_usage` AS `t` WHERE `t`.`worker` > 3) AS `w` GROUP BY TRUE, `w`.`pane of row 0`
  window: tumble of 10 rows, 1 panes by tid
  key k0 BOOLEAN: TRUE
  key k1 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`window_end` AS BIGINT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT part, max(cost) FROM LANDMARK(part_usage, INTERVAL '1 day') GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `landmark`.`part` AS `k0`, (UNIX_MICROS(CAST(`landmark`.`arrival_timestamp` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`landmark`.`arrival_timestamp` AS TIMESTAMP)), 86400000000)) DIV /* bigint */ 86400000000 AS `k1`, MAX(`landmark`.`cost`) AS `p0` FROM `part_usage` AS `landmark` GROUP BY `landmark`.`part`, (UNIX_MICROS(CAST(`landmark`.`arrival_timestamp` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`landmark`.`arrival_timestamp` AS TIMESTAMP)), 86400000000)) DIV /* bigint */ 86400000000
  window: landmark of 1d, 1 panes by arrival_timestamp
  key k0 STRING: landmark.part
  key k1 BIGINT: pane
  partial p0 DECIMAL(12,2): value of max(landmark.cost)
  merge
    SELECT k0, MAX(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`p0` AS DECIMAL(12,2)) AS `c1` FROM `state_0` AS `merged_0`

-- A landmark that is never reset is no window at all.
SELECT part, max(cost), window_start FROM LANDMARK(part_usage) GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `landmark`.`part` AS `k0`, MAX(`landmark`.`cost`) AS `p0` FROM `part_usage` AS `landmark` GROUP BY `landmark`.`part`
  key k0 STRING: landmark.part
  partial p0 DECIMAL(12,2): value of max(landmark.cost)
  merge
    SELECT k0, MAX(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`p0` AS DECIMAL(12,2)) AS `c1`, CAST(NULL AS TIMESTAMP) AS `c2` FROM `state_0` AS `merged_0`

SELECT DISTINCT part, window_start FROM TUMBLE(part_usage, 10);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `tumble`.`part` AS `k0`, (`tumble`.`tid` - PMOD(`tumble`.`tid`, 10)) DIV /* bigint */ 10 AS `k1` FROM `part_usage` AS `tumble` GROUP BY `tumble`.`part`, (`tumble`.`tid` - PMOD(`tumble`.`tid`, 10)) DIV /* bigint */ 10
  window: tumble of 10 rows, 1 panes by tid
  key k0 STRING: tumble.part
  key k1 BIGINT: pane
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`window_start` AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT part, count(*), avg(cost) FROM LAST(part_usage, 10 PARTITION BY part) w GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `w`.`part` AS `k0`, SLICE(SORT_ARRAY(COLLECT_LIST(NAMED_STRUCT('c0', CAST(`w`.`arrival_timestamp` AS TIMESTAMP), 'c1', CAST(`w`.`tid` AS BIGINT), 'c2', CAST(`w`.`part` AS STRING), 'c3', CAST(`w`.`cost` AS DECIMAL(12,2)))), FALSE), 1, 10) AS `p0` FROM `part_usage` AS `w` GROUP BY `w`.`part`
  key k0 STRING: w.part
  partial p0 ARRAY<STRUCT<c0: TIMESTAMP, c1: BIGINT, c2: STRING, c3: DECIMAL(12,2)>>: items of newest_rows(w.arrival_timestamp, w.tid, w.part, w.cost, 10)
  merge
    SELECT k0, SLICE(SORT_ARRAY(FLATTEN(COLLECT_LIST(p0)), FALSE), 1, 10) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `w`.`part` AS `c0`, CAST(COUNT(*) AS BIGINT) AS `c1`, CAST(CAST(SUM(`w`.`cost`) AS DECIMAL(38,18)) / COUNT(`w`.`cost`) AS DECIMAL(38,16)) AS `c2` FROM (SELECT `rows of stream`.`row`['c0'] AS `arrival_timestamp`, `rows of stream`.`row`['c1'] AS `tid`, `rows of stream`.`row`['c2'] AS `part`, `rows of stream`.`row`['c3'] AS `cost` FROM (SELECT EXPLODE(`merged_0`.`p0`) AS `row` FROM `state_0` AS `merged_0`) AS `rows of stream`) AS `w` GROUP BY `w`.`part`

SELECT count(*) FROM part_usage WHERE at > now() - interval '24 hours';
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT (UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)), 600000000)) DIV /* bigint */ 600000000 AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY (UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)), 600000000)) DIV /* bigint */ 600000000
  window: rows younger than 1d, in steps of 10min, 144 panes by at
  key k0 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT part, count(*) FROM part_usage WHERE date_trunc('week', at) = date_trunc('week', now()) AND cost > 1 GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, UNIX_MICROS(DATE_TRUNC('week', CAST(`part_usage`.`at` AS TIMESTAMP))) AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`cost` > 1 GROUP BY `part_usage`.`part`, UNIX_MICROS(DATE_TRUNC('week', CAST(`part_usage`.`at` AS TIMESTAMP)))
  window: rows of the current week, by at
  key k0 STRING: part_usage.part
  key k1 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT count(*) FROM part_usage WHERE at::date = current_date;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT UNIX_MICROS(DATE_TRUNC('day', CAST(`part_usage`.`at` AS TIMESTAMP))) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY UNIX_MICROS(DATE_TRUNC('day', CAST(`part_usage`.`at` AS TIMESTAMP)))
  window: rows of the current day, by at
  key k0 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT count(*) FROM part_usage WHERE at >= date_trunc('day', now());
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT UNIX_MICROS(DATE_TRUNC('day', CAST(`part_usage`.`at` AS TIMESTAMP))) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY UNIX_MICROS(DATE_TRUNC('day', CAST(`part_usage`.`at` AS TIMESTAMP)))
  window: rows of the current day and later, by at
  key k0 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT count(*) FROM part_usage WHERE at < now();
----
error 0A000: now() below the grouping of the stream "part_usage" is not supported in this place
hint: Compare a time column with now() less an interval, or date_trunc of both, in WHERE.
at: now();

SELECT count(*) FROM TUMBLE(part_usage, INTERVAL '1 month');
----
error 0A000: a window of months or years is not supported
hint: Group by date_trunc('month', ...) of the time column, or use days.
at: '1 month');

SELECT count(*) FROM TUMBLE(part_usage, 0);
----
error 22023: the size of a window must be greater than zero
at: 0);

SELECT count(*) FROM TUMBLE(part_usage);
----
error 42883: wrong number of arguments for TUMBLE
hint: Write TUMBLE(stream [, time column], size).
at: TUMBLE(part_usage);

SELECT count(*) FROM HOP(part_usage, 10, INTERVAL '1 minute');
----
error 42804: the sizes of HOP must be all intervals or all numbers of rows
at: HOP(part_usage, 10, INTERVAL '

SELECT count(*) FROM TUMBLE(part_usage, worker, INTERVAL '1 minute');
----
error 42804: windows go by a column of time, and "worker" is of type integer
at: worker, INTERVAL '1 minute');

SELECT count(*) FROM TUMBLE(station, 10);
----
error 42809: TUMBLE needs a stream, and "station" is none
at: station, 10);

SELECT count(*) FROM TUMBLE(part_usage, 10 + 1);
----
error 22023: the size of a window must be a constant
at: 10 + 1);

SELECT count(*) FROM HOP(part_usage, INTERVAL '1 microsecond', INTERVAL '1 hour');
----
error 54000: the window has 3600000000 basic windows, and 100000 are the most
detail: A basic window is the greatest step of which slide and size are whole numbers.
hint: Use a longer slide, or one that divides the size.
at: HOP(part_usage, INTERVAL '1 mi

SELECT count(*) FROM TUMBLE(part_usage, 10) WHERE window_start > 5;
----
error 0A000: window_start below the grouping of the stream "part_usage" is not supported
hint: Use it above the grouping: it is the same for all rows of a window.
at: window_start > 5;

SELECT a.n, b.n FROM (SELECT count(*) AS n FROM TUMBLE(part_usage, 10) w) a, (SELECT count(*) AS n FROM TUMBLE(deliveries, 20) w) b;
----
error 42712: different windows are called "w"
hint: Give them different aliases.
at: nowhere

SELECT a.n, b.n FROM (SELECT count(*) AS n FROM TUMBLE(part_usage, 10)) a, (SELECT count(*) AS n FROM HOP(deliveries, INTERVAL '1 s', INTERVAL '2 s')) b;
----
error 0A000: windows of rows and windows of time in one query are not supported
hint: Create a view for each, and join the views.
at: nowhere

SELECT count(*) FROM (SELECT part FROM TUMBLE(part_usage, 10) UNION ALL SELECT part FROM TUMBLE(deliveries, 20) t) u;
----
error 0A000: UNION ALL of streams in different windows is not supported
hint: Group each stream in a subquery of its own, then combine the groups.
at: count(*) FROM (SELECT part FRO

SELECT count(*) FROM LAST(part_usage, INTERVAL '1 minute');
----
error 42804: LAST needs a number of rows
at: '1 minute');

SELECT count(*) FROM LAST(part_usage, 3 PARTITION BY nothing);
----
error 42703: column "nothing" does not exist
at: nothing);

SELECT part FROM TUMBLE(part_usage, 10);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT (`tumble`.`tid` - PMOD(`tumble`.`tid`, 10)) DIV /* bigint */ 10 AS `k0`, COLLECT_LIST(NAMED_STRUCT('c0', CAST(`tumble`.`arrival_timestamp` AS TIMESTAMP), 'c1', CAST(`tumble`.`tid` AS BIGINT), 'c2', CAST(`tumble`.`part` AS STRING))) AS `p0` FROM `part_usage` AS `tumble` GROUP BY (`tumble`.`tid` - PMOD(`tumble`.`tid`, 10)) DIV /* bigint */ 10
  window: tumble of 10 rows, 1 panes by tid
  key k0 BIGINT: pane
  partial p0 ARRAY<STRUCT<c0: TIMESTAMP, c1: BIGINT, c2: STRING>>: items of all_rows(tumble.arrival_timestamp, tumble.tid, tumble.part)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0
upper pipeline
  SELECT `tumble`.`part` AS `c0` FROM (SELECT `rows of stream`.`row`['c0'] AS `arrival_timestamp`, `rows of stream`.`row`['c1'] AS `tid`, `rows of stream`.`row`['c2'] AS `part` FROM (SELECT EXPLODE(`merged_0`.`p0`) AS `row` FROM `state_0` AS `merged_0`) AS `rows of stream`) AS `tumble`

SELECT a.part, count(*), sum(b.cost) FROM HOP(part_usage, 10, 100) a JOIN HOP(part_usage, 20, 60) b ON a.part = b.part WHERE a.cost > 1 GROUP BY a.part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT (`a`.`tid` - PMOD(`a`.`tid`, 10)) DIV /* bigint */ 10 AS `k0`, COLLECT_LIST(NAMED_STRUCT('c0', CAST(`a`.`arrival_timestamp` AS TIMESTAMP), 'c1', CAST(`a`.`tid` AS BIGINT), 'c2', CAST(`a`.`part` AS STRING), 'c3', CAST(`a`.`cost` AS DECIMAL(12,2)))) AS `p0` FROM `part_usage` AS `a` WHERE `a`.`cost` > 1 GROUP BY (`a`.`tid` - PMOD(`a`.`tid`, 10)) DIV /* bigint */ 10
  window: hop of 100 rows each 10 rows, 10 panes by tid
  key k0 BIGINT: pane
  partial p0 ARRAY<STRUCT<c0: TIMESTAMP, c1: BIGINT, c2: STRING, c3: DECIMAL(12,2)>>: items of all_rows(a.arrival_timestamp, a.tid, a.part, a.cost)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0
grouping state_1
  stream pipeline over "part_usage"
    SELECT (`b`.`tid` - PMOD(`b`.`tid`, 20)) DIV /* bigint */ 20 AS `k0`, COLLECT_LIST(NAMED_STRUCT('c0', CAST(`b`.`arrival_timestamp` AS TIMESTAMP), 'c1', CAST(`b`.`tid` AS BIGINT), 'c2', CAST(`b`.`part` AS STRING), 'c3', CAST(`b`.`cost` AS DECIMAL(12,2)))) AS `p0` FROM `part_usage` AS `b` GROUP BY (`b`.`tid` - PMOD(`b`.`tid`, 20)) DIV /* bigint */ 20
  window: hop of 60 rows each 20 rows, 3 panes by tid
  key k0 BIGINT: pane
  partial p0 ARRAY<STRUCT<c0: TIMESTAMP, c1: BIGINT, c2: STRING, c3: DECIMAL(12,2)>>: items of all_rows(b.arrival_timestamp, b.tid, b.part, b.cost)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_1
pairs pairs_0 of rows of state_0 and state_1
  joined by equal values of state_0.part
    SELECT /*+ SHUFFLE_HASH(`a`) */ `a`.`part` AS `k0`, GREATEST(`a`.`first frame of row`, `b`.`first frame of row`) AS `appears`, LEAST(`a`.`last frame of row`, `b`.`last frame of row`) AS `expires`, COUNT(*) AS `p0`, SUM(SHIFTRIGHT(CAST(`b`.`cost` * 100 AS BIGINT), 32)) AS `p1`, SUM(CAST(`b`.`cost` * 100 AS BIGINT) & 4294967295) AS `p2` FROM `pairs_0_rows_0` AS `a` JOIN `pairs_0_rows_1` AS `b` ON `a`.`part` = `b`.`part` WHERE ((`a`.`cost` > 1) AND (GREATEST(`a`.`first frame of row`, `b`.`first frame of row`) <= LEAST(`a`.`last frame of row`, `b`.`last frame of row`))) AND (`a`.`row is new` OR `b`.`row is new`) GROUP BY `a`.`part`, GREATEST(`a`.`first frame of row`, `b`.`first frame of row`), LEAST(`a`.`last frame of row`, `b`.`last frame of row`)
  key k0 STRING: a.part
  key appears BIGINT: first frame that has both rows
  key expires BIGINT: last frame that has both rows
  partial p0 BIGINT: rows of count(*)
  partial p1 BIGINT: high of sum(b.cost)
  partial p2 BIGINT: low of sum(b.cost)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) + SHIFTRIGHT(SUM(p2), 32) AS p1, SUM(p2) & 4294967295 AS p2 FROM pairs_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1`, CAST(CAST(((CAST(`merged_0`.`p1` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p2` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `c2` FROM `pairs_0` AS `merged_0`
