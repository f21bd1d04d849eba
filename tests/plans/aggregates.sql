-- One state column serves several calls: sum and count of avg.
SELECT station, count(*), sum(worker), avg(worker) FROM part_usage GROUP BY station;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0`, COUNT(*) AS `p0`, SUM(`part_usage`.`worker`) AS `p1`, COUNT(`part_usage`.`worker`) AS `p2` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  partial p0 BIGINT: rows of count(*)
  partial p1 BIGINT: total of sum(part_usage.worker)
  partial p2 BIGINT: rows of avg(part_usage.worker)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) AS p1, SUM(p2) AS p2 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1`, CAST(`merged_0`.`p1` AS BIGINT) AS `c2`, CAST(CAST(`merged_0`.`p1` AS DECIMAL(38,16)) / NULLIF(`merged_0`.`p2`, 0) AS DECIMAL(38,16)) AS `c3` FROM `state_0` AS `merged_0`

SELECT count(*) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(*) AS `p0` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT sum(amount), avg(amount) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT SUM(SHIFTRIGHT(`deliveries`.`amount`, 32)) AS `p0`, SUM(`deliveries`.`amount` & 4294967295) AS `p1`, COUNT(`deliveries`.`amount`) AS `p2` FROM `deliveries` AS `deliveries`
  partial p0 BIGINT: high of sum(deliveries.amount)
  partial p1 BIGINT: low of sum(deliveries.amount)
  partial p2 BIGINT: rows of avg(deliveries.amount)
  merge
    SELECT SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1, SUM(p2) AS p2 FROM state_0
upper pipeline
  SELECT CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c0`, CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(38,16)) / NULLIF(`merged_0`.`p2`, 0) AS DECIMAL(38,16)) AS `c1` FROM `state_0` AS `merged_0`

SELECT part, sum(cost), avg(cost), min(cost), max(cost) FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, SUM(SHIFTRIGHT(CAST(`part_usage`.`cost` * 100 AS BIGINT), 32)) AS `p0`, SUM(CAST(`part_usage`.`cost` * 100 AS BIGINT) & 4294967295) AS `p1`, COUNT(`part_usage`.`cost`) AS `p2`, MIN(`part_usage`.`cost`) AS `p3`, MAX(`part_usage`.`cost`) AS `p4` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 BIGINT: high of sum(part_usage.cost)
  partial p1 BIGINT: low of sum(part_usage.cost)
  partial p2 BIGINT: rows of avg(part_usage.cost)
  partial p3 DECIMAL(12,2): value of min(part_usage.cost)
  partial p4 DECIMAL(12,2): value of max(part_usage.cost)
  merge
    SELECT k0, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1, SUM(p2) AS p2, MIN(p3) AS p3, MAX(p4) AS p4 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `c1`, CAST(CAST(CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS DECIMAL(38,18)) / NULLIF(`merged_0`.`p2`, 0) AS DECIMAL(38,16)) AS `c2`, CAST(`merged_0`.`p3` AS DECIMAL(12,2)) AS `c3`, CAST(`merged_0`.`p4` AS DECIMAL(12,2)) AS `c4` FROM `state_0` AS `merged_0`

SELECT sum(weight), avg(weight) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT SUM(CAST(`part_usage`.`weight` AS DOUBLE)) AS `p0`, COUNT(`part_usage`.`weight`) AS `p1` FROM `part_usage` AS `part_usage`
  partial p0 DOUBLE: total of sum(part_usage.weight)
  partial p1 BIGINT: rows of avg(part_usage.weight)
  merge
    SELECT SUM(p0) AS p0, SUM(p1) AS p1 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS DOUBLE) AS `c0`, CAST(`merged_0`.`p0` / NULLIF(`merged_0`.`p1`, 0) AS DOUBLE) AS `c1` FROM `state_0` AS `merged_0`

SELECT sum(delay), avg(delay), max(delay) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT SUM(CAST((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`) AS BIGINT)) AS `p0`, SUM(CAST(COALESCE(NULLIF(REGEXP_EXTRACT(CAST(`deliveries`.`delay` AS STRING), '(-?\\d+) days', 1), ''), '0') AS BIGINT)) AS `p1`, SUM(((CAST(COALESCE(NULLIF(REGEXP_EXTRACT(CAST(`deliveries`.`delay` AS STRING), '(-?\\d+) hours', 1), ''), '0') AS BIGINT) * 3600000000) + CAST((DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT)) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT))) AS `p2`, COUNT(`deliveries`.`delay`) AS `p3`, MAX_BY(CAST((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`) AS BIGINT), (((((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`)) * 30) + DATE_PART('DAY', `deliveries`.`delay`)) * 86400000000) + CAST(((DATE_PART('HOUR', `deliveries`.`delay`) * 3600000000) + (DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT))) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT)) AS `p4`, MAX_BY(CAST(COALESCE(NULLIF(REGEXP_EXTRACT(CAST(`deliveries`.`delay` AS STRING), '(-?\\d+) days', 1), ''), '0') AS BIGINT), (((((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`)) * 30) + DATE_PART('DAY', `deliveries`.`delay`)) * 86400000000) + CAST(((DATE_PART('HOUR', `deliveries`.`delay`) * 3600000000) + (DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT))) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT)) AS `p5`, MAX_BY(((CAST(COALESCE(NULLIF(REGEXP_EXTRACT(CAST(`deliveries`.`delay` AS STRING), '(-?\\d+) hours', 1), ''), '0') AS BIGINT) * 3600000000) + CAST((DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT)) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT)), (((((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`)) * 30) + DATE_PART('DAY', `deliveries`.`delay`)) * 86400000000) + CAST(((DATE_PART('HOUR', `deliveries`.`delay`) * 3600000000) + (DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT))) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT)) AS `p6`, MAX(CAST((((((DATE_PART('YEAR', `deliveries`.`delay`) * 12) + DATE_PART('MONTH', `deliveries`.`delay`)) * 30) + DATE_PART('DAY', `deliveries`.`delay`)) * 86400000000) + CAST(((DATE_PART('HOUR', `deliveries`.`delay`) * 3600000000) + (DATE_PART('MINUTE', `deliveries`.`delay`) * CAST(60000000 AS BIGINT))) + (DATE_PART('SECOND', `deliveries`.`delay`) * 1000000) AS BIGINT) AS BIGINT)) AS `p7` FROM `deliveries` AS `deliveries`
  partial p0 BIGINT: months of sum(deliveries.delay)
  partial p1 BIGINT: days of sum(deliveries.delay)
  partial p2 BIGINT: micros of sum(deliveries.delay)
  partial p3 BIGINT: rows of avg(deliveries.delay)
  partial p4 BIGINT: months of max(deliveries.delay)
  partial p5 BIGINT: days of max(deliveries.delay)
  partial p6 BIGINT: micros of max(deliveries.delay)
  partial p7 BIGINT: key of max(deliveries.delay)
  merge
    SELECT SUM(p0) AS p0, SUM(p1) AS p1, SUM(p2) AS p2, SUM(p3) AS p3, MAX_BY(p4, p7) AS p4, MAX_BY(p5, p7) AS p5, MAX_BY(p6, p7) AS p6, MAX(p7) AS p7 FROM state_0
upper pipeline
  SELECT CAST(MAKE_INTERVAL(0, CAST(`merged_0`.`p0` AS INT), 0, CAST(`merged_0`.`p1` AS INT), 0, 0, CAST(CAST(`merged_0`.`p2` AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6))) AS STRING) AS `c0`, CAST(MAKE_INTERVAL(0, CAST(`merged_0`.`p0` AS INT), 0, CAST(`merged_0`.`p1` AS INT), 0, 0, CAST(CAST(`merged_0`.`p2` AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6))) / NULLIF(`merged_0`.`p3`, 0) AS STRING) AS `c1`, CAST(MAKE_INTERVAL(0, CAST(`merged_0`.`p4` AS INT), 0, CAST(`merged_0`.`p5` AS INT), 0, 0, CAST(CAST(`merged_0`.`p6` AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6))) AS STRING) AS `c2` FROM `state_0` AS `merged_0`

SELECT station, bool_and(late), bool_or(late), every(late) FROM deliveries GROUP BY station;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT `deliveries`.`station` AS `k0`, BOOL_AND(`deliveries`.`late`) AS `p0`, BOOL_OR(`deliveries`.`late`) AS `p1` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`station`
  key k0 INT: deliveries.station
  partial p0 BOOLEAN: value of bool_and(deliveries.late)
  partial p1 BOOLEAN: value of bool_or(deliveries.late)
  merge
    SELECT k0, BOOL_AND(p0) AS p0, BOOL_OR(p1) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(`merged_0`.`p0` AS BOOLEAN) AS `c1`, CAST(`merged_0`.`p1` AS BOOLEAN) AS `c2`, CAST(`merged_0`.`p0` AS BOOLEAN) AS `c3` FROM `state_0` AS `merged_0`

SELECT bit_and(amount), bit_or(amount), bit_xor(station) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT BIT_AND(`deliveries`.`amount`) AS `p0`, BIT_OR(`deliveries`.`amount`) AS `p1`, BIT_XOR(`deliveries`.`station`) AS `p2` FROM `deliveries` AS `deliveries`
  partial p0 BIGINT: value of bit_and(deliveries.amount)
  partial p1 BIGINT: value of bit_or(deliveries.amount)
  partial p2 INT: value of bit_xor(deliveries.station)
  merge
    SELECT BIT_AND(p0) AS p0, BIT_OR(p1) AS p1, BIT_XOR(p2) AS p2 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS BIGINT) AS `c0`, CAST(`merged_0`.`p1` AS BIGINT) AS `c1`, CAST(`merged_0`.`p2` AS INT) AS `c2` FROM `state_0` AS `merged_0`

SELECT stddev(weight), var_pop(weight), variance(weight) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COUNT(`part_usage`.`weight`) AS `p0`, AVG(CAST(`part_usage`.`weight` AS DOUBLE)) AS `p1`, VAR_POP(CAST(`part_usage`.`weight` AS DOUBLE)) * COUNT(`part_usage`.`weight`) AS `p2` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of stddev(part_usage.weight)
  partial p1 DOUBLE: mean of stddev(part_usage.weight)
  partial p2 DOUBLE: squares of stddev(part_usage.weight)
  merge
    SELECT SUM(p0) AS p0, SUM(p0 * p1) / NULLIF(SUM(p0), 0) AS p1, AGGREGATE(COLLECT_LIST(NAMED_STRUCT('n', CAST(COALESCE(p0, 0) AS DOUBLE), 'x', p1, 'y', p1, 'm', p2)), NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'x', CAST(0 AS DOUBLE), 'y', CAST(0 AS DOUBLE), 'm', CAST(0 AS DOUBLE)), (a, b) -> CASE WHEN b['n'] = 0 THEN a WHEN a['n'] = 0 THEN b ELSE NAMED_STRUCT('n', a['n'] + b['n'], 'x', a['x'] + (((b['x'] - a['x']) * b['n']) / (a['n'] + b['n'])), 'y', a['y'] + (((b['y'] - a['y']) * b['n']) / (a['n'] + b['n'])), 'm', (a['m'] + b['m']) + (((((b['x'] - a['x']) * (b['y'] - a['y'])) * a['n']) * b['n']) / (a['n'] + b['n']))) END, a -> CASE WHEN a['n'] > 0 THEN a['m'] END) AS p2 FROM state_0
upper pipeline
  SELECT CAST(SQRT(`merged_0`.`p2` / CASE WHEN `merged_0`.`p0` > 1 THEN `merged_0`.`p0` - 1 END) AS DOUBLE) AS `c0`, CAST(`merged_0`.`p2` / NULLIF(`merged_0`.`p0`, 0) AS DOUBLE) AS `c1`, CAST(`merged_0`.`p2` / CASE WHEN `merged_0`.`p0` > 1 THEN `merged_0`.`p0` - 1 END AS DOUBLE) AS `c2` FROM `state_0` AS `merged_0`

SELECT corr(weight, worker), regr_count(weight, worker), covar_pop(weight, worker) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT REGR_COUNT(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p0`, REGR_AVGX(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p1`, REGR_AVGY(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p2`, REGR_SXX(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p3`, REGR_SYY(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p4`, REGR_SXY(`part_usage`.`weight`, CAST(CAST(`part_usage`.`worker` AS DOUBLE) AS DOUBLE)) AS `p5` FROM `part_usage` AS `part_usage`
  partial p0 BIGINT: rows of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  partial p1 DOUBLE: mean_x of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  partial p2 DOUBLE: mean_y of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  partial p3 DOUBLE: sxx of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  partial p4 DOUBLE: syy of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  partial p5 DOUBLE: sxy of corr(part_usage.weight, CAST(part_usage.worker AS DOUBLE))
  merge
    SELECT SUM(p0) AS p0, SUM(p0 * p1) / NULLIF(SUM(p0), 0) AS p1, SUM(p0 * p2) / NULLIF(SUM(p0), 0) AS p2, AGGREGATE(COLLECT_LIST(NAMED_STRUCT('n', CAST(COALESCE(p0, 0) AS DOUBLE), 'x', p1, 'y', p1, 'm', p3)), NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'x', CAST(0 AS DOUBLE), 'y', CAST(0 AS DOUBLE), 'm', CAST(0 AS DOUBLE)), (a, b) -> CASE WHEN b['n'] = 0 THEN a WHEN a['n'] = 0 THEN b ELSE NAMED_STRUCT('n', a['n'] + b['n'], 'x', a['x'] + (((b['x'] - a['x']) * b['n']) / (a['n'] + b['n'])), 'y', a['y'] + (((b['y'] - a['y']) * b['n']) / (a['n'] + b['n'])), 'm', (a['m'] + b['m']) + (((((b['x'] - a['x']) * (b['y'] - a['y'])) * a['n']) * b['n']) / (a['n'] + b['n']))) END, a -> CASE WHEN a['n'] > 0 THEN a['m'] END) AS p3, AGGREGATE(COLLECT_LIST(NAMED_STRUCT('n', CAST(COALESCE(p0, 0) AS DOUBLE), 'x', p2, 'y', p2, 'm', p4)), NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'x', CAST(0 AS DOUBLE), 'y', CAST(0 AS DOUBLE), 'm', CAST(0 AS DOUBLE)), (a, b) -> CASE WHEN b['n'] = 0 THEN a WHEN a['n'] = 0 THEN b ELSE NAMED_STRUCT('n', a['n'] + b['n'], 'x', a['x'] + (((b['x'] - a['x']) * b['n']) / (a['n'] + b['n'])), 'y', a['y'] + (((b['y'] - a['y']) * b['n']) / (a['n'] + b['n'])), 'm', (a['m'] + b['m']) + (((((b['x'] - a['x']) * (b['y'] - a['y'])) * a['n']) * b['n']) / (a['n'] + b['n']))) END, a -> CASE WHEN a['n'] > 0 THEN a['m'] END) AS p4, AGGREGATE(COLLECT_LIST(NAMED_STRUCT('n', CAST(COALESCE(p0, 0) AS DOUBLE), 'x', p1, 'y', p2, 'm', p5)), NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'x', CAST(0 AS DOUBLE), 'y', CAST(0 AS DOUBLE), 'm', CAST(0 AS DOUBLE)), (a, b) -> CASE WHEN b['n'] = 0 THEN a WHEN a['n'] = 0 THEN b ELSE NAMED_STRUCT('n', a['n'] + b['n'], 'x', a['x'] + (((b['x'] - a['x']) * b['n']) / (a['n'] + b['n'])), 'y', a['y'] + (((b['y'] - a['y']) * b['n']) / (a['n'] + b['n'])), 'm', (a['m'] + b['m']) + (((((b['x'] - a['x']) * (b['y'] - a['y'])) * a['n']) * b['n']) / (a['n'] + b['n']))) END, a -> CASE WHEN a['n'] > 0 THEN a['m'] END) AS p5 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p5` / NULLIF(SQRT(`merged_0`.`p3` * `merged_0`.`p4`), 0) AS DOUBLE) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1`, CAST(`merged_0`.`p5` / NULLIF(`merged_0`.`p0`, 0) AS DOUBLE) AS `c2` FROM `state_0` AS `merged_0`

SELECT part, count(DISTINCT station), sum(DISTINCT amount), avg(DISTINCT station) FROM deliveries GROUP BY part;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT `deliveries`.`part` AS `k0`, COLLECT_SET(`deliveries`.`station`) AS `p0`, COLLECT_SET(`deliveries`.`amount`) AS `p1` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`part`
  key k0 STRING: deliveries.part
  partial p0 ARRAY<INT>: items of count(DISTINCT deliveries.station)
  partial p1 ARRAY<BIGINT>: items of sum(DISTINCT deliveries.amount)
  merge
    SELECT k0, ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p0))) AS p0, ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p1))) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(SIZE(`merged_0`.`p0`), 0) AS BIGINT) AS `c1`, CAST(AGGREGATE(`merged_0`.`p1`, CAST(NULL AS DECIMAL(29,0)), (a, x) -> CAST(COALESCE(a, CAST(0 AS DECIMAL(29,0))) + CAST(x AS DECIMAL(29,0)) AS DECIMAL(29,0))) AS DECIMAL(29,0)) AS `c2`, CAST(CAST(AGGREGATE(`merged_0`.`p0`, CAST(NULL AS DECIMAL(38,0)), (a, x) -> CAST(COALESCE(a, CAST(0 AS DECIMAL(38,0))) + CAST(x AS DECIMAL(38,0)) AS DECIMAL(38,0))) AS DECIMAL(38,16)) / NULLIF(SIZE(`merged_0`.`p0`), 0) AS DECIMAL(38,16)) AS `c3` FROM `state_0` AS `merged_0`

-- DISTINCT changes nothing for an extreme.
SELECT min(DISTINCT amount), max(amount) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT MIN(`deliveries`.`amount`) AS `p0`, MAX(`deliveries`.`amount`) AS `p1` FROM `deliveries` AS `deliveries`
  partial p0 BIGINT: value of min(DISTINCT deliveries.amount)
  partial p1 BIGINT: value of max(deliveries.amount)
  merge
    SELECT MIN(p0) AS p0, MAX(p1) AS p1 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS BIGINT) AS `c0`, CAST(`merged_0`.`p1` AS BIGINT) AS `c1` FROM `state_0` AS `merged_0`

SELECT stddev(DISTINCT station) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT COLLECT_SET(`deliveries`.`station`) AS `p0` FROM `deliveries` AS `deliveries`
  partial p0 ARRAY<INT>: items of stddev(DISTINCT deliveries.station)
  merge
    SELECT ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p0))) AS p0 FROM state_0
upper pipeline
  SELECT CAST(SQRT(AGGREGATE(`merged_0`.`p0`, NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 'm', CAST(0 AS DOUBLE)), (a, x) -> NAMED_STRUCT('n', a['n'] + 1, 'mean', a['mean'] + ((CAST(x AS DOUBLE) - a['mean']) / (a['n'] + 1)), 'm', a['m'] + ((((CAST(x AS DOUBLE) - a['mean']) * (CAST(x AS DOUBLE) - a['mean'])) * a['n']) / (a['n'] + 1))), a -> CASE WHEN a['n'] > 0 THEN a['m'] END) / CASE WHEN SIZE(`merged_0`.`p0`) > 1 THEN SIZE(`merged_0`.`p0`) - 1 END) AS DECIMAL(38,16)) AS `c0` FROM `state_0` AS `merged_0`

SELECT part, count(*) FILTER (WHERE late), sum(amount) FILTER (WHERE NOT late) FROM deliveries GROUP BY part;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT `deliveries`.`part` AS `k0`, COUNT(*) FILTER (WHERE `deliveries`.`late`) AS `p0`, SUM(SHIFTRIGHT(`deliveries`.`amount`, 32)) FILTER (WHERE NOT `deliveries`.`late`) AS `p1`, SUM(`deliveries`.`amount` & 4294967295) FILTER (WHERE NOT `deliveries`.`late`) AS `p2` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`part`
  key k0 STRING: deliveries.part
  partial p0 BIGINT: rows of count(*) FILTER(WHERE deliveries.late)
  partial p1 BIGINT: high of sum(deliveries.amount) FILTER(WHERE NOT deliveries.late)
  partial p2 BIGINT: low of sum(deliveries.amount) FILTER(WHERE NOT deliveries.late)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) + SHIFTRIGHT(SUM(p2), 32) AS p1, SUM(p2) & 4294967295 AS p2 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(COALESCE(`merged_0`.`p0`, 0) AS BIGINT) AS `c1`, CAST(((CAST(`merged_0`.`p1` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p2` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c2` FROM `state_0` AS `merged_0`

SELECT approx_count_distinct(part) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT HLL_SKETCH_AGG(CASE WHEN NOT (`deliveries`.`part` IS NULL) THEN XXHASH64(`deliveries`.`part`) END) AS `p0` FROM `deliveries` AS `deliveries`
  partial p0 BINARY: sketch of approx_count_distinct(deliveries.part)
  merge
    SELECT HLL_UNION_AGG(p0) AS p0 FROM state_0
upper pipeline
  SELECT CAST(ELEMENT_AT(TRANSFORM(ARRAY(`merged_0`.`p0`), one -> COALESCE(HLL_SKETCH_ESTIMATE(HLL_UNION(one, one)), 0)), 1) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT min_by(part, amount), max_by(part, amount), any_value(part) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT MIN_BY(`deliveries`.`part`, `deliveries`.`amount`) AS `p0`, MIN(`deliveries`.`amount`) AS `p1`, MAX_BY(`deliveries`.`part`, `deliveries`.`amount`) AS `p2`, MAX(`deliveries`.`amount`) AS `p3`, ANY_VALUE(`deliveries`.`part`, TRUE) AS `p4` FROM `deliveries` AS `deliveries`
  partial p0 STRING: value of min_by(deliveries.part, deliveries.amount)
  partial p1 BIGINT: extreme of min_by(deliveries.part, deliveries.amount)
  partial p2 STRING: value of max_by(deliveries.part, deliveries.amount)
  partial p3 BIGINT: extreme of max_by(deliveries.part, deliveries.amount)
  partial p4 STRING: value of any_value(deliveries.part)
  merge
    SELECT MIN_BY(p0, p1) AS p0, MIN(p1) AS p1, MAX_BY(p2, p3) AS p2, MAX(p3) AS p3, ANY_VALUE(p4, TRUE) AS p4 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS STRING) AS `c0`, CAST(`merged_0`.`p2` AS STRING) AS `c1`, CAST(`merged_0`.`p4` AS STRING) AS `c2` FROM `state_0` AS `merged_0`

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY weight), mode() WITHIN GROUP (ORDER BY part) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COLLECT_LIST(`part_usage`.`weight`) AS `p0`, COLLECT_LIST(`part_usage`.`part`) AS `p1` FROM `part_usage` AS `part_usage`
  partial p0 ARRAY<DOUBLE>: items of percentile_cont(CAST(0.5 AS DOUBLE)) WITHIN GROUP (ORDER BY part_usage.weight ASC NULLS LAST)
  partial p1 ARRAY<STRING>: items of mode() WITHIN GROUP (ORDER BY part_usage.part ASC NULLS LAST)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0, FLATTEN(COLLECT_LIST(p1)) AS p1 FROM state_0
upper pipeline
  SELECT CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(`merged_0`.`p0`, TRUE)), v -> ELEMENT_AT(TRANSFORM(ARRAY(CAST(0.5 AS DOUBLE) * (SIZE(v) - 1)), place -> CASE WHEN GET(v, CAST(FLOOR(place) AS INT)) = GET(v, CAST(CEIL(place) AS INT)) THEN GET(v, CAST(FLOOR(place) AS INT)) ELSE ((CEIL(place) - place) * GET(v, CAST(FLOOR(place) AS INT))) + ((place - FLOOR(place)) * GET(v, CAST(CEIL(place) AS INT))) END), 1)), 1) AS DOUBLE) AS `c0`, CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(`merged_0`.`p1`, TRUE)), v -> AGGREGATE(v, NAMED_STRUCT('value', GET(v, 0), 'run', 0, 'best', GET(v, 0), 'length', 0), (a, x) -> NAMED_STRUCT('value', x, 'run', CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END, 'best', CASE WHEN CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END > a['length'] THEN x ELSE a['best'] END, 'length', GREATEST(a['length'], CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END)), a -> a['best'])), 1) AS STRING) AS `c1` FROM `state_0` AS `merged_0`

SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY amount DESC) FILTER (WHERE late) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT COLLECT_LIST(`deliveries`.`amount`) FILTER (WHERE `deliveries`.`late`) AS `p0` FROM `deliveries` AS `deliveries`
  partial p0 ARRAY<BIGINT>: items of percentile_disc(CAST(0.9 AS DOUBLE)) WITHIN GROUP (ORDER BY deliveries.amount DESC NULLS FIRST) FILTER(WHERE deliveries.late)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0
upper pipeline
  SELECT CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(`merged_0`.`p0`, FALSE)), v -> GET(v, CAST(GREATEST(CEIL(CAST(0.9 AS DOUBLE) * SIZE(v)) - 1, 0) AS INT))), 1) AS BIGINT) AS `c0` FROM `state_0` AS `merged_0`

SELECT station, string_agg(part, ', ') FROM deliveries GROUP BY station;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT `deliveries`.`station` AS `k0`, COLLECT_LIST(CASE WHEN NOT (`deliveries`.`part` IS NULL) THEN NAMED_STRUCT('k0', `deliveries`.`tid`, 'item', `deliveries`.`part`) END) AS `p0` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`station`
  key k0 INT: deliveries.station
  partial p0 ARRAY<STRUCT<k0: BIGINT, item: STRING>>: items of string_agg(deliveries.part, ', ')
  merge
    SELECT k0, FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN ARRAY_JOIN(TRANSFORM(ARRAY_SORT(`merged_0`.`p0`, (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN 0 WHEN a['k0'] IS NULL THEN 1 WHEN b['k0'] IS NULL THEN - 1 WHEN a['k0'] < b['k0'] THEN - 1 ELSE 1 END), x -> x['item']), ', ') END AS STRING) AS `c1` FROM `state_0` AS `merged_0`

SELECT station, string_agg(part, ', ' ORDER BY amount DESC NULLS LAST, part) FROM deliveries GROUP BY station;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT `deliveries`.`station` AS `k0`, COLLECT_LIST(CASE WHEN NOT (`deliveries`.`part` IS NULL) THEN NAMED_STRUCT('k0', `deliveries`.`amount`, 'k1', `deliveries`.`part`, 'k2', `deliveries`.`tid`, 'item', `deliveries`.`part`) END) AS `p0` FROM `deliveries` AS `deliveries` GROUP BY `deliveries`.`station`
  key k0 INT: deliveries.station
  partial p0 ARRAY<STRUCT<k0: BIGINT, k1: STRING, k2: BIGINT, item: STRING>>: items of string_agg(deliveries.part, ', ' ORDER BY deliveries.amount DESC, deliveries.part ASC NULLS LAST)
  merge
    SELECT k0, FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN ARRAY_JOIN(TRANSFORM(ARRAY_SORT(`merged_0`.`p0`, (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN CASE WHEN a['k1'] <=> b['k1'] THEN CASE WHEN a['k2'] <=> b['k2'] THEN 0 WHEN a['k2'] IS NULL THEN 1 WHEN b['k2'] IS NULL THEN - 1 WHEN a['k2'] < b['k2'] THEN - 1 ELSE 1 END WHEN a['k1'] IS NULL THEN 1 WHEN b['k1'] IS NULL THEN - 1 WHEN a['k1'] < b['k1'] THEN - 1 ELSE 1 END WHEN a['k0'] IS NULL THEN 1 WHEN b['k0'] IS NULL THEN - 1 WHEN a['k0'] < b['k0'] THEN 1 ELSE - 1 END), x -> x['item']), ', ') END AS STRING) AS `c1` FROM `state_0` AS `merged_0`

SELECT string_agg(DISTINCT part, '/' ORDER BY part DESC) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT COLLECT_SET(`deliveries`.`part`) AS `p0` FROM `deliveries` AS `deliveries`
  partial p0 ARRAY<STRING>: items of string_agg(DISTINCT deliveries.part, '/' ORDER BY deliveries.part DESC NULLS FIRST)
  merge
    SELECT ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p0))) AS p0 FROM state_0
upper pipeline
  SELECT CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN ARRAY_JOIN(SORT_ARRAY(`merged_0`.`p0`, FALSE), '/') END AS STRING) AS `c0` FROM `state_0` AS `merged_0`

-- Rows of a subquery have forgotten their tids, so equal sort keys come in any order.
SELECT string_agg(p, ',' ORDER BY a) FROM (SELECT part AS p, amount AS a FROM deliveries) d;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT COLLECT_LIST(CASE WHEN NOT (CAST(`d`.`p` AS STRING) IS NULL) THEN NAMED_STRUCT('k0', CAST(`d`.`a` AS BIGINT), 'item', CAST(`d`.`p` AS STRING)) END) AS `p0` FROM (SELECT `deliveries`.`part` AS `p`, `deliveries`.`amount` AS `a` FROM `deliveries` AS `deliveries`) AS `d`
  partial p0 ARRAY<STRUCT<k0: BIGINT, item: STRING>>: items of string_agg(d.p, ',' ORDER BY d.a ASC NULLS LAST)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0
upper pipeline
  SELECT CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN ARRAY_JOIN(TRANSFORM(ARRAY_SORT(`merged_0`.`p0`, (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN 0 WHEN a['k0'] IS NULL THEN 1 WHEN b['k0'] IS NULL THEN - 1 WHEN a['k0'] < b['k0'] THEN - 1 ELSE 1 END), x -> x['item']), ',') END AS STRING) AS `c0` FROM `state_0` AS `merged_0`

SELECT string_agg(part, part) FROM deliveries;
----
error 0A000: string_agg over a stream with a separator that is not a constant is not supported
at: string_agg(part, part) FROM de

SELECT bit_xor(DISTINCT station) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT COLLECT_SET(`deliveries`.`station`) AS `p0` FROM `deliveries` AS `deliveries`
  partial p0 ARRAY<INT>: items of bit_xor(DISTINCT deliveries.station)
  merge
    SELECT ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p0))) AS p0 FROM state_0
upper pipeline
  SELECT CAST(AGGREGATE(`merged_0`.`p0`, CAST(NULL AS INT), (a, x) -> COALESCE(a ^ x, x)) AS INT) AS `c0` FROM `state_0` AS `merged_0`

SELECT corr(DISTINCT weight, worker) FROM part_usage;
----
error 0A000: the aggregate corr(DISTINCT ...) cannot be kept up to date over a stream
detail: Its results for parts of the stream cannot be merged.
hint: Use another aggregate, or query the stream directly.
at: corr(DISTINCT weight, worker) 

SELECT sum(amount * 2) + 1, round(avg(amount), 2), count(*) * 100 / sum(amount) FROM deliveries;
----
grouping state_0
  stream pipeline over "deliveries"
    SELECT SUM(SHIFTRIGHT(CAST(`deliveries`.`amount` * /* bigint */ CAST(2 AS BIGINT) AS BIGINT), 32)) AS `p0`, SUM(CAST(`deliveries`.`amount` * /* bigint */ CAST(2 AS BIGINT) AS BIGINT) & 4294967295) AS `p1`, SUM(SHIFTRIGHT(`deliveries`.`amount`, 32)) AS `p2`, SUM(`deliveries`.`amount` & 4294967295) AS `p3`, COUNT(`deliveries`.`amount`) AS `p4`, COUNT(*) AS `p5` FROM `deliveries` AS `deliveries`
  partial p0 BIGINT: high of sum(deliveries.amount * CAST(2 AS BIGINT))
  partial p1 BIGINT: low of sum(deliveries.amount * CAST(2 AS BIGINT))
  partial p2 BIGINT: high of avg(deliveries.amount)
  partial p3 BIGINT: low of avg(deliveries.amount)
  partial p4 BIGINT: rows of avg(deliveries.amount)
  partial p5 BIGINT: rows of count(*)
  merge
    SELECT SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1, SUM(p2) + SHIFTRIGHT(SUM(p3), 32) AS p2, SUM(p3) & 4294967295 AS p3, SUM(p4) AS p4, SUM(p5) AS p5 FROM state_0
upper pipeline
  SELECT CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(29,0)) + CAST(1 AS DECIMAL(1,0)) AS DECIMAL(30,0)) AS `c0`, CAST(ROUND(CAST(CAST(((CAST(`merged_0`.`p2` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p3` AS DECIMAL(19,0))) AS DECIMAL(38,16)) / NULLIF(`merged_0`.`p4`, 0) AS DECIMAL(38,16)), 2) AS DECIMAL(25,2)) AS `c1`, CAST(CAST(CAST(COALESCE(`merged_0`.`p5`, 0) * /* bigint */ CAST(100 AS BIGINT) AS DECIMAL(20,0)) AS DECIMAL(38,18)) / CAST(((CAST(`merged_0`.`p2` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p3` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS DECIMAL(38,18)) AS `c2` FROM `state_0` AS `merged_0`

SELECT count(DISTINCT delay) FROM deliveries;
----
error 0A000: count of intervals over a stream is not supported
hint: Use their length: extract(epoch FROM ...).
at: count(DISTINCT delay) FROM del

SELECT part, count(delay), any_value(delay) FROM deliveries GROUP BY part;
----
error 0A000: any_value of intervals over a stream is not supported
hint: Use their length: extract(epoch FROM ...).
at: any_value(delay) FROM deliveri

-- Arrays keep values with their sort keys, the tid last, and are put in order when they are read.
SELECT station, array_agg(part), array_agg(DISTINCT worker ORDER BY worker DESC) FROM part_usage GROUP BY station;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`station` AS `k0`, COLLECT_LIST(NAMED_STRUCT('k0', `part_usage`.`tid`, 'item', `part_usage`.`part`)) AS `p0`, COLLECT_SET(NAMED_STRUCT('item', `part_usage`.`worker`)) AS `p1` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`station`
  key k0 INT: part_usage.station
  partial p0 ARRAY<STRUCT<k0: BIGINT, item: STRING>>: items of array_agg(part_usage.part ORDER BY part_usage.tid ASC NULLS LAST)
  partial p1 ARRAY<STRUCT<item: INT>>: items of array_agg(DISTINCT part_usage.worker ORDER BY part_usage.worker DESC NULLS FIRST)
  merge
    SELECT k0, FLATTEN(COLLECT_LIST(p0)) AS p0, ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(p1))) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN TRANSFORM(ARRAY_SORT(`merged_0`.`p0`, (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN 0 WHEN a['k0'] IS NULL THEN 1 WHEN b['k0'] IS NULL THEN - 1 WHEN a['k0'] < b['k0'] THEN - 1 ELSE 1 END), x -> x['item']) END AS ARRAY<STRING>) AS `c1`, CAST(CASE WHEN SIZE(`merged_0`.`p1`) > 0 THEN TRANSFORM(ARRAY_SORT(`merged_0`.`p1`, (a, b) -> CASE WHEN a['item'] <=> b['item'] THEN 0 WHEN a['item'] IS NULL THEN - 1 WHEN b['item'] IS NULL THEN 1 WHEN a['item'] < b['item'] THEN 1 ELSE - 1 END), x -> x['item']) END AS ARRAY<INT>) AS `c2` FROM `state_0` AS `merged_0`

SELECT array_agg(cost ORDER BY at DESC) FILTER (WHERE weight > 1) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COLLECT_LIST(NAMED_STRUCT('k0', `part_usage`.`at`, 'k1', `part_usage`.`tid`, 'item', `part_usage`.`cost`)) FILTER (WHERE `part_usage`.`weight` > 1) AS `p0` FROM `part_usage` AS `part_usage`
  partial p0 ARRAY<STRUCT<k0: TIMESTAMP_NTZ, k1: BIGINT, item: DECIMAL(12,2)>>: items of array_agg(part_usage.cost ORDER BY part_usage.at DESC NULLS FIRST, part_usage.tid ASC NULLS LAST) FILTER(WHERE part_usage.weight > 1)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0 FROM state_0
upper pipeline
  SELECT CAST(CASE WHEN SIZE(`merged_0`.`p0`) > 0 THEN TRANSFORM(ARRAY_SORT(`merged_0`.`p0`, (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN CASE WHEN a['k1'] <=> b['k1'] THEN 0 WHEN a['k1'] IS NULL THEN 1 WHEN b['k1'] IS NULL THEN - 1 WHEN a['k1'] < b['k1'] THEN - 1 ELSE 1 END WHEN a['k0'] IS NULL THEN - 1 WHEN b['k0'] IS NULL THEN 1 WHEN a['k0'] < b['k0'] THEN 1 ELSE - 1 END), x -> x['item']) END AS ARRAY<DECIMAL(12,2)>) AS `c0` FROM `state_0` AS `merged_0`

-- By arrival: the tid decides between parts.
SELECT part, first(worker), last(at) FILTER (WHERE cost > 0) FROM part_usage GROUP BY part;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT `part_usage`.`part` AS `k0`, MIN_BY(`part_usage`.`worker`, `part_usage`.`tid`) AS `p0`, MIN(`part_usage`.`tid`) AS `p1`, MAX_BY(`part_usage`.`at`, `part_usage`.`tid`) FILTER (WHERE `part_usage`.`cost` > 0) AS `p2`, MAX(`part_usage`.`tid`) FILTER (WHERE `part_usage`.`cost` > 0) AS `p3` FROM `part_usage` AS `part_usage` GROUP BY `part_usage`.`part`
  key k0 STRING: part_usage.part
  partial p0 INT: value of first(part_usage.worker, part_usage.tid)
  partial p1 BIGINT: extreme of first(part_usage.worker, part_usage.tid)
  partial p2 TIMESTAMP_NTZ: value of last(part_usage.at, part_usage.tid) FILTER(WHERE part_usage.cost > 0)
  partial p3 BIGINT: extreme of last(part_usage.at, part_usage.tid) FILTER(WHERE part_usage.cost > 0)
  merge
    SELECT k0, MIN_BY(p0, p1) AS p0, MIN(p1) AS p1, MAX_BY(p2, p3) AS p2, MAX(p3) AS p3 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`p0` AS INT) AS `c1`, CAST(`merged_0`.`p2` AS TIMESTAMP_NTZ) AS `c2` FROM `state_0` AS `merged_0`

SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY part), mode() WITHIN GROUP (ORDER BY at DESC) FROM part_usage;
----
grouping state_0
  stream pipeline over "part_usage"
    SELECT COLLECT_LIST(`part_usage`.`part`) AS `p0`, COLLECT_LIST(`part_usage`.`at`) AS `p1` FROM `part_usage` AS `part_usage`
  partial p0 ARRAY<STRING>: items of percentile_disc(CAST(0.5 AS DOUBLE)) WITHIN GROUP (ORDER BY part_usage.part ASC NULLS LAST)
  partial p1 ARRAY<TIMESTAMP_NTZ>: items of mode() WITHIN GROUP (ORDER BY part_usage.at DESC NULLS FIRST)
  merge
    SELECT FLATTEN(COLLECT_LIST(p0)) AS p0, FLATTEN(COLLECT_LIST(p1)) AS p1 FROM state_0
upper pipeline
  SELECT CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(`merged_0`.`p0`, TRUE)), v -> GET(v, CAST(GREATEST(CEIL(CAST(0.5 AS DOUBLE) * SIZE(v)) - 1, 0) AS INT))), 1) AS STRING) AS `c0`, CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(`merged_0`.`p1`, FALSE)), v -> AGGREGATE(v, NAMED_STRUCT('value', GET(v, 0), 'run', 0, 'best', GET(v, 0), 'length', 0), (a, x) -> NAMED_STRUCT('value', x, 'run', CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END, 'best', CASE WHEN CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END > a['length'] THEN x ELSE a['best'] END, 'length', GREATEST(a['length'], CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END)), a -> a['best'])), 1) AS TIMESTAMP_NTZ) AS `c1` FROM `state_0` AS `merged_0`

SELECT first(q.part) FROM (SELECT part FROM part_usage) q;
----
error 0A000: first is not supported where rows have no order of arrival
detail: The rows of exactly one stream have one, in a query that reads it in FROM.
hint: Use min_by(value, key), or array_agg(value ORDER BY key).
at: first(q.part) FROM (SELECT par

SELECT array_agg(delay) FROM deliveries;
----
error 0A000: an array of intervals is not supported
hint: Use their length: extract(epoch FROM ...).
at: array_agg(delay) FROM deliveri
