-- Each use of a CTE is an occurrence of its own; equal groupings are kept once.
WITH used AS (SELECT station, count(*) AS n FROM part_usage GROUP BY station)
SELECT station FROM used WHERE n = (SELECT max(n) FROM used);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`used`.`station` AS INT) AS `c0` FROM (SELECT `merged_0`.`k0` AS `station`, COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `used` WHERE `used`.`n` = (SELECT MAX(`used`.`n`) AS `max` FROM (SELECT `merged_1`.`k0` AS `station`, COALESCE(`merged_1`.`p0`, 0) AS `n` FROM `state_0` AS `merged_1`) AS `used`)

WITH raw AS (SELECT station, part FROM part_usage WHERE weight > 0)
SELECT a.n, b.n FROM (SELECT count(*) AS n FROM raw) a, (SELECT count(DISTINCT part) AS n FROM raw) b;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM (SELECT `part_usage`.`station` AS `station`, `part_usage`.`part` AS `part` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`weight` > 0) AS `raw`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
grouping state_1
  stream pipeline over "part_usage"
    SELECT COLLECT_SET(CAST(`raw`.`part` AS STRING)) AS `p0` FROM (SELECT `part_usage`.`station` AS `station`, `part_usage`.`part` AS `part` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`weight` > 0) AS `raw`
  partial p0 ARRAY<STRING>: items of count(DISTINCT raw.part)
  merge
    SELECT ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p0))) AS p0 FROM state_1
upper pipeline
  SELECT CAST(`a`.`n` AS BIGINT) AS `c0`, CAST(`b`.`n` AS BIGINT) AS `c1` FROM (SELECT COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `a`, (SELECT CAST(COALESCE(SIZE(`merged_1`.`p0`), 0) AS BIGINT) AS `n` FROM `state_1` AS `merged_1`) AS `b`

WITH berlin AS (SELECT id FROM station WHERE plant = 'Berlin')
SELECT u.part, count(*) FROM part_usage u JOIN berlin b ON b.id = u.station GROUP BY u.part;
----
grouping state_0
  stream pipeline over "part_usage"
    WITH `with berlin`(`id`) AS (SELECT `station@`.`id` AS `id` FROM `station` AS `station@` WHERE `station@`.`plant` = 'Berlin') SELECT `u`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN `with berlin` AS `b` ON `b`.`id` = `u`.`station` GROUP BY `u`.`part`
  key k0 STRING: u.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

WITH berlin AS (SELECT id FROM station), used AS (SELECT u.part FROM part_usage u JOIN berlin b ON b.id = u.station)
SELECT count(*), (SELECT count(*) FROM berlin) FROM used;
----
grouping state_0
  stream pipeline over "part_usage"
    WITH `with berlin`(`id`) AS (SELECT `station@`.`id` AS `id` FROM `station` AS `station@`) SELECT COUNT(*) AS `p0` FROM (SELECT `u`.`part` AS `part` FROM `part_usage` AS `u` JOIN `with berlin` AS `b` ON `b`.`id` = `u`.`station`) AS `used`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  WITH `with berlin`(`id`) AS (SELECT `station`.`id` AS `id` FROM `station` AS `station`) SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0`, CAST((SELECT COUNT(*) AS `count` FROM `with berlin` AS `berlin`) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 3)
SELECT up.n, count(*) FROM part_usage u JOIN up ON up.n = u.station GROUP BY up.n;
----
grouping state_0
  stream pipeline over "part_usage"
    WITH RECURSIVE `with up`(`?column?`) AS ((SELECT 1 AS `?column?`) UNION ALL (SELECT `up`.`?column?` + 1 AS `?column?` FROM `with up` AS `up` WHERE `up`.`?column?` < 3)) SELECT CAST(`up`.`?column?` AS INT) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN `with up` AS `up` ON `up`.`?column?` = `u`.`station` GROUP BY `up`.`?column?`
  key k0 INT: up."?column?"
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  WITH RECURSIVE `with up`(`?column?`) AS ((SELECT 1 AS `?column?`) UNION ALL (SELECT `up`.`?column?` + 1 AS `?column?` FROM `with up` AS `up` WHERE `up`.`?column?` < 3)) SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

WITH RECURSIVE r (n) AS (SELECT station FROM part_usage UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT count(*) FROM r;
----
error 0A000: recursive query "r" over a stream is not supported
hint: Group the stream in a query of its own, and let the recursive one read that.
at: station FROM part_usage UNION 

SELECT part, sum(n) FROM (SELECT part, 1 AS n FROM part_usage UNION ALL SELECT part, amount FROM deliveries) e GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`e`.`part` AS STRING) AS `k0`, SUM(SHIFTRIGHT(CAST(`e`.`n` AS BIGINT), 32)) AS `p0`, SUM(CAST(`e`.`n` AS BIGINT) & 4294967295) AS `p1` FROM (SELECT `part_usage`.`part` AS `part`, CAST(1 AS BIGINT) AS `n` FROM `part_usage` AS `part_usage`) AS `e` GROUP BY `e`.`part`
  stream pipeline over "deliveries"
    SELECT CAST(`e`.`part` AS STRING) AS `k0`, SUM(SHIFTRIGHT(CAST(`e`.`n` AS BIGINT), 32)) AS `p0`, SUM(CAST(`e`.`n` AS BIGINT) & 4294967295) AS `p1` FROM (SELECT `deliveries`.`part` AS `part`, `deliveries`.`amount` AS `n` FROM `deliveries` AS `deliveries`) AS `e` GROUP BY `e`.`part`
  key k0 STRING: e.part
  partial p0 BIGINT: high of sum(e.n)
  partial p1 BIGINT: low of sum(e.n)
  merge
    SELECT k0, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c1` FROM `state_0` AS `merged_0`

-- Both branches read one stream: one pipeline.
SELECT x, count(*) FROM (SELECT station AS x FROM part_usage UNION ALL SELECT worker FROM part_usage) e GROUP BY x;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`e`.`x` AS INT) AS `k0`, COUNT(*) AS `p0` FROM ((SELECT `part_usage`.`station` AS `x` FROM `part_usage` AS `part_usage`) UNION ALL (SELECT `part_usage`.`worker` AS `worker` FROM `part_usage` AS `part_usage`)) AS `e` GROUP BY `e`.`x`
  key k0 INT: e.x
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT count(*) FROM (SELECT part FROM part_usage UNION ALL SELECT plant FROM station) e;
----
error 0A000: UNION ALL of the ungrouped stream "part_usage" and a table is not supported in a continuous view
hint: Group each side in a subquery first, then combine the groups.
at: plant FROM station) e;

SELECT count(*) FROM (SELECT part FROM part_usage UNION ALL SELECT part FROM deliveries GROUP BY part) e;
----
error 0A000: UNION ALL of the ungrouped stream "part_usage" and a grouped stream is not supported in a continuous view
hint: Group each side in a subquery first, then combine the groups.
at: part FROM deliveries GROUP BY 

SELECT count(*) FROM (SELECT part FROM part_usage UNION SELECT part FROM deliveries) e;
----
error 0A000: UNION over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage UNION SEL

SELECT count(*) FROM (SELECT part FROM part_usage EXCEPT SELECT part FROM deliveries) e;
----
error 0A000: EXCEPT over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage EXCEPT SE

SELECT part FROM part_usage GROUP BY part INTERSECT SELECT part FROM deliveries GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  merge
    SELECT k0 FROM state_0 GROUP BY k0
grouping state_1
  stream pipeline over "deliveries"
    SELECT `deliveries`.`part` AS `k0` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`part`
  key k0 STRING: deliveries.part
  merge
    SELECT k0 FROM state_1 GROUP BY k0
upper pipeline
  SELECT CAST(`q`.`c0` AS STRING) AS `c0` FROM ((SELECT `merged_0`.`k0` AS `part` FROM `state_0` AS `merged_0`) INTERSECT (SELECT `merged_1`.`k0` AS `part` FROM `state_1` AS `merged_1`)) AS `q`(`c0`)

SELECT part, count(*) FROM part_usage GROUP BY part UNION ALL SELECT plant, 0 FROM station ORDER BY 1;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`q`.`c0` AS STRING) AS `c0`, CAST(`q`.`c1` AS BIGINT) AS `c1` FROM ((SELECT `merged_0`.`k0` AS `part`, COALESCE(`merged_0`.`p0`, 0) AS `count` FROM `state_0` AS `merged_0`) UNION ALL (SELECT `station`.`plant` AS `plant`, CAST(0 AS BIGINT) AS `?column?` FROM `station` AS `station`)) AS `q`(`c0`, `c1`)
live tables: station

SELECT part FROM part_usage;
----
error 0A000: a continuous view must group the stream "part_usage"
hint: Add GROUP BY, DISTINCT or an aggregate; or query the stream directly.
at: part FROM part_usage;

SELECT * FROM part_usage WHERE weight > 3 ORDER BY at;
----
error 0A000: a continuous view must group the stream "part_usage"
hint: Add GROUP BY, DISTINCT or an aggregate; or query the stream directly.
at: * FROM part_usage WHERE weight

SELECT part FROM part_usage LIMIT 10;
----
error 0A000: LIMIT over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage LIMIT 10;

SELECT part FROM part_usage ORDER BY at LIMIT 10;
----
error 0A000: LIMIT over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage ORDER BY 

SELECT count(*) FROM (SELECT part FROM part_usage ORDER BY at LIMIT 10) u;
----
error 0A000: LIMIT over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage ORDER BY 

SELECT count(*) FROM (SELECT part FROM part_usage OFFSET 10) u;
----
error 0A000: OFFSET over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage OFFSET 10

SELECT count(*) FROM (SELECT part FROM part_usage ORDER BY at) u;
----
notice: ORDER BY below a grouping is dropped: it has no effect
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM (SELECT `part_usage`.`part` AS `part` FROM `part_usage` AS `part_usage`) AS `u`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT DISTINCT ON (part) part, at FROM part_usage ORDER BY part, at;
----
error 0A000: DISTINCT ON over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part, at FROM part_usage ORDER

SELECT part, row_number() OVER (ORDER BY at) FROM part_usage;
----
error 0A000: a window function over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part, row_number() OVER (ORDER

SELECT part, sum(n) FROM (SELECT part, row_number() OVER (ORDER BY at) AS n FROM part_usage) u GROUP BY part;
----
error 0A000: a window function over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part, row_number() OVER (ORDER

SELECT part FROM part_usage UNION SELECT part FROM deliveries;
----
error 0A000: UNION over the ungrouped stream "part_usage" is not supported in a continuous view
detail: The first operator that needs all rows of a stream must be a grouping.
hint: Group the stream in a subquery first: what is above a grouping is not restricted.
at: part FROM part_usage UNION SEL

SELECT part FROM part_usage UNION ALL SELECT plant FROM station;
----
error 0A000: a continuous view must group the stream "part_usage"
hint: Add GROUP BY, DISTINCT or an aggregate; or query the stream directly.
at: part FROM part_usage UNION ALL

SELECT count(*) FROM part_usage WHERE random() < 0.5;
----
error 0A000: the volatile function random below the grouping of the stream "part_usage" is not supported in a continuous view
hint: Call it above the grouping.
at: random() < 0.5;

SELECT part, count(*), current_setting('app.user') FROM part_usage GROUP BY part;
----
error 0A000: the function current_setting is not supported in a continuous view
hint: Call it in the query that reads the view.
at: current_setting('app.user') FR

SELECT count(*) FROM part_usage WHERE at > now() - interval '1 hour';
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT (UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)), 30000000)) DIV /* bigint */ 30000000 AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY (UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)) - PMOD(UNIX_MICROS(CAST(`part_usage`.`at` AS TIMESTAMP)), 30000000)) DIV /* bigint */ 30000000
  window: rows younger than 1h, in steps of 30s, 120 panes by at
  key k0 BIGINT: pane
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT at::date = current_date, count(*) FROM part_usage GROUP BY 1;
----
error 0A000: current_date below the grouping of the stream "part_usage" is not supported in this place
hint: Compare a time column with now() less an interval, or date_trunc of both, in WHERE.
at: nowhere

SELECT count(*) FROM part_usage WHERE part = current_user;
----
error 0A000: current_user below the grouping of the stream "part_usage" is not supported in a continuous view
hint: Call it above the grouping.
at: nowhere

-- The moment of the query is that of the upper pipeline.
SELECT count(*), now() FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0`, CAST('2024-05-06 07:08:09+00:00' AS TIMESTAMP) AS `c1` FROM `state_0` AS `merged_0`

SELECT count(*) FROM part_usage u JOIN (SELECT id FROM station WHERE random() < 0.5) st ON st.id = u.station;
----
error 0A000: the volatile function random below the grouping of the stream "part_usage" is not supported in a continuous view
hint: Call it above the grouping.
at: random() < 0.5) st ON st.id = 

SELECT plant FROM station;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere

SELECT count(*) FROM (SELECT count(*) AS n FROM part_usage GROUP BY part) u WHERE u.n > 2;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(COUNT(*) AS BIGINT) AS `c0` FROM (SELECT COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `u` WHERE `u`.`n` > 2

SELECT d, count(*) FROM (SELECT DISTINCT part AS d FROM part_usage) u GROUP BY d;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`u`.`d` AS STRING) AS `c0`, CAST(COUNT(*) AS BIGINT) AS `c1` FROM (SELECT `merged_0`.`k0` AS `d` FROM `state_0` AS `merged_0`) AS `u` GROUP BY `u`.`d`

SELECT u.p, count(*) FROM (SELECT v.p FROM (SELECT part AS p, weight FROM part_usage) v WHERE v.weight > 1) u GROUP BY u.p;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`u`.`p` AS STRING) AS `k0`, COUNT(*) AS `p0` FROM (SELECT `v`.`p` AS `p` FROM (SELECT `part_usage`.`part` AS `p`, `part_usage`.`weight` AS `weight` FROM `part_usage` AS `part_usage`) AS `v` WHERE `v`.`weight` > 1) AS `u` GROUP BY `u`.`p`
  key k0 STRING: u.p
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT u.n FROM (SELECT count(*) AS n FROM part_usage) u JOIN part_usage v ON v.station = u.n;
----
error 0A000: a continuous view must group the stream "part_usage"
hint: Add GROUP BY, DISTINCT or an aggregate; or query the stream directly.
at: u.n FROM (SELECT count(*) AS n
