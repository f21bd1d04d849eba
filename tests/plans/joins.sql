-- The table is joined above the grouping: it stays live.
SELECT st.plant, sum(u.n) FROM (SELECT station, count(*) AS n FROM part_usage WHERE part = 'Wheel' GROUP BY station) u
JOIN station st ON st.id = u.station GROUP BY st.plant;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`part` = 'Wheel' GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0`, CAST(SUM(CAST(`u`.`n` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c1` FROM (SELECT `merged_0`.`k0` AS `station`, COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `u` JOIN `station` AS `st` ON `st`.`id` = `u`.`station` GROUP BY `st`.`plant`
live tables: station

-- The table is joined below the grouping: it is pinned.
SELECT st.plant, count(*) FROM part_usage u JOIN station st ON st.id = u.station GROUP BY st.plant;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `st`.`plant` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN `station` AS `st` ON `st`.`id` = `u`.`station` GROUP BY `st`.`plant`
  key k0 STRING: st.plant
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT st.plant, count(*) FROM part_usage u LEFT JOIN station st ON st.id = u.station GROUP BY st.plant;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `st`.`plant` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` LEFT JOIN `station` AS `st` ON `st`.`id` = `u`.`station` GROUP BY `st`.`plant`
  key k0 STRING: st.plant
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT st.plant, count(*) FROM station st RIGHT JOIN part_usage u ON st.id = u.station GROUP BY st.plant;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `st`.`plant` AS `k0`, COUNT(*) AS `p0` FROM `station` AS `st` RIGHT JOIN `part_usage` AS `u` ON `st`.`id` = `u`.`station` GROUP BY `st`.`plant`
  key k0 STRING: st.plant
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT st.plant, count(u.part) FROM station st LEFT JOIN part_usage u ON st.id = u.station GROUP BY st.plant;
----
error 0A000: the ungrouped stream "part_usage" cannot be on the optional side of a LEFT JOIN
detail: Which rows of the other side have no partner is known only when the stream has ended.
hint: Swap the sides, or group the stream in a subquery first.
at: st.id = u.station GROUP BY st.

SELECT st.plant, count(u.part) FROM part_usage u RIGHT JOIN station st ON st.id = u.station GROUP BY st.plant;
----
error 0A000: the ungrouped stream "part_usage" cannot be on the optional side of a RIGHT JOIN
detail: Which rows of the other side have no partner is known only when the stream has ended.
hint: Swap the sides, or group the stream in a subquery first.
at: st.id = u.station GROUP BY st.

SELECT count(*) FROM part_usage u FULL JOIN station st ON st.id = u.station;
----
error 0A000: the ungrouped stream "part_usage" cannot be on the optional side of a FULL JOIN
detail: Which rows of the other side have no partner is known only when the stream has ended.
hint: Swap the sides, or group the stream in a subquery first.
at: st.id = u.station;

SELECT count(*) FROM part_usage CROSS JOIN worker;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` CROSS JOIN `worker` AS `worker@`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`
pinned tables: worker

SELECT w.shift, count(*) FROM part_usage u, worker w WHERE u.worker < w.id GROUP BY w.shift;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `w`.`shift` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u`, `worker` AS `w` WHERE `u`.`worker` < `w`.`id` GROUP BY `w`.`shift`
  key k0 INT: w.shift
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: worker

SELECT w.shift, count(*) FROM part_usage u JOIN (station st LEFT JOIN worker w ON w.id = st.id) ON st.id = u.station GROUP BY w.shift;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `w`.`shift` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN (`station` AS `st` LEFT JOIN `worker` AS `w` ON `w`.`id` = `st`.`id`) ON `st`.`id` = `u`.`station` GROUP BY `w`.`shift`
  key k0 INT: w.shift
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station, worker

SELECT count(*) FROM worker w LEFT JOIN (station st JOIN part_usage u ON st.id = u.station) ON w.id = u.worker;
----
error 0A000: the ungrouped stream "part_usage" cannot be on the optional side of a LEFT JOIN
detail: Which rows of the other side have no partner is known only when the stream has ended.
hint: Swap the sides, or group the stream in a subquery first.
at: st.id = u.station) ON w.id = u

-- The right join is between the two tables only.
SELECT count(*) FROM part_usage u, station st RIGHT JOIN worker w ON w.id = st.id;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `u`, `station` AS `st` RIGHT JOIN `worker` AS `w` ON `w`.`id` = `st`.`id`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`
pinned tables: station, worker

SELECT part, count(*) FROM part_usage WHERE station IN (SELECT id FROM station WHERE plant = 'Berlin') GROUP BY part;
----
static pipeline static_0
  SELECT `station`.`id` AS `id` FROM `station` AS `station` WHERE `station`.`plant` = 'Berlin'
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`station` IN (SELECT `asked`.`id` AS `id` FROM `static_0` AS `asked`) GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT part, count(*) FROM part_usage u WHERE NOT EXISTS (SELECT 1 FROM station st WHERE st.id = u.station) GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` WHERE NOT EXISTS (SELECT 1 AS `?column?` FROM `station` AS `st` WHERE `st`.`id` = `u`.`station`) GROUP BY `u`.`part`
  key k0 STRING: u.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT part, count(*) FROM part_usage WHERE worker > (SELECT max(id) FROM station) GROUP BY part;
----
static pipeline static_0
  SELECT MAX(`station`.`id`) AS `max` FROM `station` AS `station`
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` WHERE `part_usage`.`worker` > (SELECT `asked`.`max` AS `max` FROM `static_0` AS `asked`) GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT part, sum(worker + (SELECT count(*) FROM worker w WHERE w.shift = station)) FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, SUM(SHIFTRIGHT(CAST(CAST(`part_usage`.`worker` AS BIGINT) + /* bigint */ (SELECT COUNT(*) AS `count` FROM `worker` AS `w` WHERE `w`.`shift` = `part_usage`.`station`) AS BIGINT), 32)) AS `p0`, SUM(CAST(CAST(`part_usage`.`worker` AS BIGINT) + /* bigint */ (SELECT COUNT(*) AS `count` FROM `worker` AS `w` WHERE `w`.`shift` = `part_usage`.`station`) AS BIGINT) & 4294967295) AS `p1` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: high of sum(CAST(part_usage.worker AS BIGINT) + (SELECT count(*) AS count FROM public.worker AS w WHERE w.shift = part_usage.station))
  partial p1 BIGINT: low of sum(CAST(part_usage.worker AS BIGINT) + (SELECT count(*) AS count FROM public.worker AS w WHERE w.shift = part_usage.station))
  merge
    SELECT k0, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: worker

SELECT l.n, count(*) FROM part_usage u, LATERAL (SELECT count(*) AS n FROM worker w WHERE w.id < u.worker) l GROUP BY l.n;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`l`.`n` AS BIGINT) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u`, LATERAL (SELECT COUNT(*) AS `n` FROM `worker` AS `w` WHERE `w`.`id` < `u`.`worker`) AS `l` GROUP BY `l`.`n`
  key k0 BIGINT: l.n
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS BIGINT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: worker

SELECT x, count(*) FROM part_usage u JOIN generate_series(1, 3) x ON x = u.station GROUP BY x;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`x`.`generate_series` AS INT) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN (SELECT CAST(`id` AS INT) AS `generate_series` FROM RANGE(1, 4, 1)) AS `x` ON `x`.`generate_series` = `u`.`station` GROUP BY `x`.`generate_series`
  key k0 INT: x.generate_series
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT a.n, b.n FROM (SELECT part, count(*) AS n FROM part_usage GROUP BY part) a
FULL JOIN (SELECT part, sum(amount) AS n FROM deliveries GROUP BY part) b ON a.part = b.part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
grouping state_1
  stream pipeline over "deliveries"
    SELECT `deliveries`.`part` AS `k0`, SUM(SHIFTRIGHT(`deliveries`.`amount`, 32)) AS `p0`, SUM(`deliveries`.`amount` & 4294967295) AS `p1` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`part`
  key k0 STRING: deliveries.part
  partial p0 BIGINT: high of sum(deliveries.amount)
  partial p1 BIGINT: low of sum(deliveries.amount)
  merge
    SELECT k0, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1 FROM state_1 GROUP BY k0
upper pipeline
  SELECT CAST(`a`.`n` AS BIGINT) AS `c0`, CAST(`b`.`n` AS DECIMAL(29,0)) AS `c1` FROM (SELECT `merged_0`.`k0` AS `part`, COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `a` FULL JOIN (SELECT `merged_1`.`k0` AS `part`, CAST(((CAST(`merged_1`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_1`.`p1` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `n` FROM `state_1` AS `merged_1`) AS `b` ON `a`.`part` = `b`.`part`

SELECT count(*) FROM part_usage u JOIN deliveries d ON d.part = u.part;
----
error 0A000: the ungrouped stream "part_usage" cannot be joined with the stream "deliveries"
detail: Neither stream can be kept as a whole for the other to probe.
hint: Group both streams in subqueries of their own, then join the groups.
at: count(*) FROM part_usage u JOI

SELECT count(*) FROM part_usage u JOIN part_usage v ON u.part = v.part;
----
error 0A000: the ungrouped stream "part_usage" cannot be joined with the stream "part_usage"
detail: Neither stream can be kept as a whole for the other to probe.
hint: Group both streams in subqueries of their own, then join the groups.
at: count(*) FROM part_usage u JOI

SELECT count(*) FROM part_usage u JOIN (SELECT part, count(*) AS n FROM deliveries GROUP BY part) d ON d.part = u.part;
----
error 0A000: the ungrouped stream "part_usage" cannot be joined with the stream "deliveries"
detail: Neither stream can be kept as a whole for the other to probe.
hint: Group both streams in subqueries of their own, then join the groups.
at: count(*) FROM part_usage u JOI

SELECT part, count(*) FROM part_usage WHERE part IN (SELECT DISTINCT part FROM deliveries) GROUP BY part;
----
error 0A000: a subquery over the stream "deliveries" below the grouping of the stream "part_usage" is not supported in a continuous view
hint: Compare the groups instead: group both streams in subqueries, then join them.
at: part FROM deliveries) GROUP BY

SELECT plant FROM station WHERE id IN (SELECT DISTINCT station FROM part_usage);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `station@`.`plant` AS `c0` FROM `station` AS `station@` WHERE `station@`.`id` IN (SELECT `merged_0`.`k0` AS `station` FROM `state_0` AS `merged_0`)
live tables: station

SELECT plant FROM station WHERE id IN (SELECT station FROM part_usage);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `station@`.`plant` AS `c0` FROM `station` AS `station@` WHERE `station@`.`id` IN (SELECT `merged_0`.`k0` AS `station` FROM `state_0` AS `merged_0`)
live tables: station

SELECT plant, (SELECT count(*) FROM part_usage u WHERE u.station = st.id AND u.weight > 2) FROM station st;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` WHERE `u`.`weight` > 2 GROUP BY `u`.`station`
  key k0 INT: u.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0`, CAST((SELECT COALESCE(SUM(`merged_0`.`p0`), 0) AS `count` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = `st`.`id`) AS BIGINT) AS `c1` FROM `station` AS `st`
live tables: station

SELECT plant FROM station st WHERE id > (SELECT 0.5 * sum(worker) FROM part_usage u WHERE st.id + 1 = u.station);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0`, SUM(`u`.`worker`) AS `p0` FROM `part_usage` AS `u` GROUP BY `u`.`station`
  key k0 INT: u.station
  partial p0 BIGINT: total of sum(u.worker)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0` FROM `station` AS `st` WHERE `st`.`id` > (SELECT 0.5 * CAST(SUM(`merged_0`.`p0`) AS DECIMAL(20,0)) AS `?column?` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = (`st`.`id` + 1))
live tables: station

SELECT plant FROM station st WHERE EXISTS (SELECT DISTINCT station FROM part_usage u WHERE u.station = st.id);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0` FROM `part_usage` AS `u` GROUP BY `u`.`station`
  key k0 INT: u.station
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0` FROM `station` AS `st` WHERE EXISTS (SELECT DISTINCT `merged_0`.`k0` AS `station` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = `st`.`id`)
live tables: station

SELECT plant FROM station st WHERE EXISTS (SELECT 1 FROM part_usage u WHERE u.station = st.id);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0` FROM `part_usage` AS `u` GROUP BY `u`.`station`
  key k0 INT: u.station
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0` FROM `station` AS `st` WHERE EXISTS (SELECT 1 AS `found` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = `st`.`id` GROUP BY `merged_0`.`k0`)
live tables: station

SELECT plant FROM station st WHERE 3 < (SELECT count(*) FROM part_usage u WHERE u.station < st.id);
----
error 0A000: a correlated subquery over the stream "part_usage" is not supported in a continuous view
detail: Only equality with columns of the query around it can be looked up in what is kept.
hint: Group the stream by the columns that are compared, in a subquery in FROM, and join that.
at: u.station < st.id);

SELECT plant, (SELECT sum(worker + st.id) FROM part_usage u WHERE u.station = st.id) FROM station st;
----
error 0A000: a correlated subquery over the stream "part_usage" is not supported in a continuous view
detail: Only equality with columns of the query around it can be looked up in what is kept.
hint: Group the stream by the columns that are compared, in a subquery in FROM, and join that.
at: st.id) FROM part_usage u WHERE

SELECT st.plant, l.n FROM station st, LATERAL (SELECT count(*) AS n FROM part_usage u WHERE u.station = st.id) l;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` GROUP BY `u`.`station`
  key k0 INT: u.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `st`.`plant` AS `c0`, CAST(`l`.`n` AS BIGINT) AS `c1` FROM `station` AS `st`, LATERAL (SELECT COALESCE(SUM(`merged_0`.`p0`), 0) AS `n` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = `st`.`id`) AS `l`
live tables: station

SELECT station, count(*) FROM part_usage u GROUP BY station
HAVING count(*) > (SELECT count(*) FROM worker w WHERE w.id = u.station);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `u`.`station` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `u` GROUP BY `u`.`station`
  key k0 INT: u.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0` WHERE COALESCE(`merged_0`.`p0`, 0) > (SELECT COUNT(*) AS `count` FROM `worker` AS `w` WHERE `w`.`id` = `merged_0`.`k0`)
live tables: worker
