SELECT date_trunc('hour', at) AS hour, part, count(*) FROM part_usage GROUP BY 1, part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(CAST(DATE_TRUNC('HOUR', `part_usage`.`at`) AS TIMESTAMP_NTZ) AS TIMESTAMP_NTZ) AS `k0`, `part_usage`.`part` AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY CAST(DATE_TRUNC('HOUR', `part_usage`.`at`) AS TIMESTAMP_NTZ), `part_usage`.`part`
  key k0 TIMESTAMP_NTZ: date_trunc('hour', part_usage.at)
  key k1 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) AS p0 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS TIMESTAMP_NTZ) AS `c0`, CAST(`merged_0`.`k1` AS STRING) AS `c1`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c2` FROM `state_0` AS `merged_0`

SELECT upper(part) || '!', count(*) FROM part_usage GROUP BY upper(part);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(UPPER(`part_usage`.`part`) AS STRING) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY UPPER(`part_usage`.`part`)
  key k0 STRING: upper(part_usage.part)
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(CONCAT(`merged_0`.`k0`, '!') AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT CASE WHEN weight > 10 THEN 'heavy' ELSE 'light' END AS class, count(*) FROM part_usage GROUP BY class;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(CASE WHEN `part_usage`.`weight` > 10 THEN 'heavy' ELSE 'light' END AS STRING) AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY CASE WHEN `part_usage`.`weight` > 10 THEN 'heavy' ELSE 'light' END
  key k0 STRING: CASE WHEN part_usage.weight > 10 THEN 'heavy' ELSE 'light' END
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT DISTINCT part, station FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, `part_usage`.`station` AS `k1` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`, `part_usage`.`station`
  key k0 STRING: part_usage.part
  key k1 INT: part_usage.station
  merge
    SELECT k0, k1 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`k1` AS INT) AS `c1` FROM `state_0` AS `merged_0`

SELECT DISTINCT station + 1 AS next FROM part_usage ORDER BY next LIMIT 3;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`part_usage`.`station` + 1 AS INT) AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station` + 1
  key k0 INT: part_usage.station + 1
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0` FROM `state_0` AS `merged_0` ORDER BY `c0` ASC NULLS LAST LIMIT 3

SELECT DISTINCT count(*) FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT DISTINCT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT part FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0` FROM `state_0` AS `merged_0`

SELECT 1 FROM part_usage HAVING count(*) > 10;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(1 AS INT) AS `c0` FROM `state_0` AS `merged_0` WHERE COALESCE(`merged_0`.`p0`, 0) > 10

SELECT part, station, grouping(part), count(*) FROM part_usage GROUP BY ROLLUP (part, station);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, `part_usage`.`station` AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`, `part_usage`.`station`
  key k0 STRING: part_usage.part
  key k1 INT: part_usage.station
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) AS p0 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`q`.`c0` AS STRING) AS `c0`, CAST(`q`.`c1` AS INT) AS `c1`, CAST(`q`.`c2` AS INT) AS `c2`, CAST(`q`.`c3` AS BIGINT) AS `c3` FROM ((SELECT `merged_0`.`k0` AS `part`, `merged_0`.`k1` AS `station`, CAST(GROUPING(`merged_0`.`k0`) AS INT) AS `grouping`, COALESCE(SUM(`merged_0`.`p0`), 0) AS `count` FROM `state_0` AS `merged_0` GROUP BY ROLLUP ((`merged_0`.`k0`), (`merged_0`.`k1`))) UNION ALL (SELECT CAST(NULL AS STRING) AS `part`, CAST(NULL AS INT) AS `station`, 1 AS `grouping`, COALESCE(SUM(`merged_0`.`p0`), 0) AS `count` FROM `state_0` AS `merged_0` WHERE FALSE HAVING NOT EXISTS (SELECT 1 AS `one` FROM `state_0` AS `merged_0`))) AS `q`(`c0`, `c1`, `c2`, `c3`)

SELECT part, station, avg(worker) FROM part_usage GROUP BY GROUPING SETS ((part), (station), ()) HAVING count(*) > 2;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, `part_usage`.`station` AS `k1`, SUM(`part_usage`.`worker`) AS `p0`, COUNT(`part_usage`.`worker`) AS `p1`, COUNT(*) AS `p2` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`, `part_usage`.`station`
  key k0 STRING: part_usage.part
  key k1 INT: part_usage.station
  partial p0 BIGINT: total of avg(part_usage.worker)
  partial p1 BIGINT: rows of avg(part_usage.worker)
  partial p2 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) AS p0, SUM(p1) AS p1, SUM(p2) AS p2 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`q`.`c0` AS STRING) AS `c0`, CAST(`q`.`c1` AS INT) AS `c1`, CAST(`q`.`c2` AS DECIMAL(38,16)) AS `c2` FROM ((SELECT `merged_0`.`k0` AS `part`, `merged_0`.`k1` AS `station`, CAST(CAST(SUM(`merged_0`.`p0`) AS DECIMAL(38,16)) / NULLIF(SUM(`merged_0`.`p1`), 0) AS DECIMAL(38,16)) AS `avg` FROM `state_0` AS `merged_0` GROUP BY GROUPING SETS ((`merged_0`.`k0`), (`merged_0`.`k1`), ()) HAVING COALESCE(SUM(`merged_0`.`p2`), 0) > 2) UNION ALL (SELECT CAST(NULL AS STRING) AS `part`, CAST(NULL AS INT) AS `station`, CAST(CAST(SUM(`merged_0`.`p0`) AS DECIMAL(38,16)) / NULLIF(SUM(`merged_0`.`p1`), 0) AS DECIMAL(38,16)) AS `avg` FROM `state_0` AS `merged_0` WHERE FALSE HAVING (NOT EXISTS (SELECT 1 AS `one` FROM `state_0` AS `merged_0`)) AND (COALESCE(SUM(`merged_0`.`p2`), 0) > 2))) AS `q`(`c0`, `c1`, `c2`)

SELECT part, station, count(*) FROM part_usage GROUP BY part, CUBE (station, worker);
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, `part_usage`.`station` AS `k1`, `part_usage`.`worker` AS `k2`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`, `part_usage`.`station`, `part_usage`.`worker`
  key k0 STRING: part_usage.part
  key k1 INT: part_usage.station
  key k2 INT: part_usage.worker
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, k2, SUM(p0) AS p0 FROM state_0 GROUP BY k0, k1, k2
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`k1` AS INT) AS `c1`, CAST(COALESCE(SUM(`merged_0`.`p0`), 0) AS BIGINT) AS `c2` FROM `state_0` AS `merged_0` GROUP BY `merged_0`.`k0`, CUBE ((`merged_0`.`k1`), (`merged_0`.`k2`))

SELECT count(*) FROM part_usage GROUP BY ();
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(SUM(`merged_0`.`p0`), 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0` GROUP BY GROUPING SETS (())

-- A primary key among the keys determines the other columns of its table.
SELECT st.id, st.plant, count(*) FROM part_usage u JOIN station st ON st.id = u.station GROUP BY st.id;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `st`.`id` AS `k0`, `st`.`plant` AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `u` JOIN `station` AS `st` ON `st`.`id` = `u`.`station` GROUP BY `st`.`id`, `st`.`plant`
  key k0 INT: st.id
  key k1 STRING: st.plant
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) AS p0 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(`merged_0`.`k1` AS STRING) AS `c1`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c2` FROM `state_0` AS `merged_0`
pinned tables: station

SELECT delay, count(*) FROM deliveries GROUP BY delay;
----
error 0A000: grouping a stream by an interval is not supported
hint: Group by its length: extract(epoch FROM ...).
at: delay;

SELECT tid % 10, min(arrival_timestamp) FROM part_usage GROUP BY tid % 10;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT CAST(`part_usage`.`tid` % /* bigint */ CAST(10 AS BIGINT) AS BIGINT) AS `k0`, MIN(`part_usage`.`arrival_timestamp`) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`tid` % /* bigint */ CAST(10 AS BIGINT)
  key k0 BIGINT: part_usage.tid % CAST(10 AS BIGINT)
  partial p0 TIMESTAMP: value of min(part_usage.arrival_timestamp)
  merge
    SELECT k0, MIN(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS BIGINT) AS `c0`, CAST(`merged_0`.`p0` AS TIMESTAMP) AS `c1` FROM `state_0` AS `merged_0`

SELECT part, count(*) FROM part_usage GROUP BY part HAVING sum(worker) > 3 AND part <> 'Wheel';
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0`, SUM(`part_usage`.`worker`) AS `p1` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  partial p1 BIGINT: total of sum(part_usage.worker)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0` WHERE (`merged_0`.`p1` > 3) AND (`merged_0`.`k0` <> 'Wheel')

SELECT part, count(*) AS n FROM part_usage GROUP BY part ORDER BY n DESC;
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
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT part, count(*) AS n FROM part_usage GROUP BY part ORDER BY sum(worker) DESC LIMIT 5 OFFSET 1;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0`, SUM(`part_usage`.`worker`) AS `p1` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  partial p1 BIGINT: total of sum(part_usage.worker)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1` FROM `state_0` AS `merged_0` ORDER BY `merged_0`.`p1` DESC NULLS FIRST LIMIT 5 OFFSET 1

SELECT p.part, p.n, rank() OVER (ORDER BY p.n) FROM (SELECT part, count(*) AS n FROM part_usage GROUP BY part) p;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`p`.`part` AS STRING) AS `c0`, CAST(`p`.`n` AS BIGINT) AS `c1`, CAST(RANK() OVER (ORDER BY `p`.`n` ASC NULLS LAST) AS BIGINT) AS `c2` FROM (SELECT `merged_0`.`k0` AS `part`, COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `p`

SELECT part, count(*), sum(count(*)) OVER (ORDER BY part) FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1`, CAST(SUM(CAST(COALESCE(`merged_0`.`p0`, 0) AS DECIMAL(19,0))) OVER (ORDER BY `merged_0`.`k0` ASC NULLS LAST) AS DECIMAL(29,0)) AS `c2` FROM `state_0` AS `merged_0`

SELECT DISTINCT ON (n) part, n FROM (SELECT part, count(*) AS n FROM part_usage GROUP BY part) p ORDER BY n, part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`q`.`part` AS STRING) AS `c0`, CAST(`q`.`n` AS BIGINT) AS `c1` FROM (SELECT `p`.`part` AS `part`, `p`.`n` AS `n`, CAST(ROW_NUMBER() OVER (PARTITION BY `p`.`n` ORDER BY `p`.`n` ASC NULLS LAST, `p`.`part` ASC NULLS LAST) AS BIGINT) AS `row number`, `p`.`n` AS `order 0`, `p`.`part` AS `order 1` FROM (SELECT `merged_0`.`k0` AS `part`, COALESCE(`merged_0`.`p0`, 0) AS `n` FROM `state_0` AS `merged_0`) AS `p`) AS `q` WHERE `q`.`row number` = 1 ORDER BY `q`.`order 0` ASC NULLS LAST, `q`.`order 1` ASC NULLS LAST

-- DISTINCT ON over groups: its keys are lifted too.
SELECT DISTINCT ON (station) station, part, count(*) FROM part_usage GROUP BY station, part ORDER BY station, count(*) DESC;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0`, `part_usage`.`part` AS `k1`, COUNT(*) AS `p0` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`, `part_usage`.`part`
  key k0 INT: part_usage.station
  key k1 STRING: part_usage.part
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) AS p0 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`q`.`station` AS INT) AS `c0`, CAST(`q`.`part` AS STRING) AS `c1`, CAST(`q`.`count` AS BIGINT) AS `c2` FROM (SELECT `merged_0`.`k0` AS `station`, `merged_0`.`k1` AS `part`, COALESCE(`merged_0`.`p0`, 0) AS `count`, CAST(ROW_NUMBER() OVER (PARTITION BY `merged_0`.`k0` ORDER BY `merged_0`.`k0` ASC NULLS LAST, COALESCE(`merged_0`.`p0`, 0) DESC NULLS FIRST) AS BIGINT) AS `row number`, `merged_0`.`k0` AS `order 0`, COALESCE(`merged_0`.`p0`, 0) AS `order 1` FROM `state_0` AS `merged_0`) AS `q` WHERE `q`.`row number` = 1 ORDER BY `q`.`order 0` ASC NULLS LAST, `q`.`order 1` DESC NULLS FIRST
