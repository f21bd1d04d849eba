"""Goldens: PostgreSQL's SQL in, Spark SQL out."""

from __future__ import annotations

import pytest

from tests.unit.sql.catalog import spark

CASES: tuple[tuple[str, str], ...] = (
    (
        "SELECT a from t where d > '2024-01-01'",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t` WHERE `t`.`d` > CAST('2024-01-01' AS DATE)",
    ),
    (
        "SELECT 7 / a from t",
        "SELECT CAST(7 DIV `t`.`a` AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a / 2.5 from t",
        "SELECT CAST(CAST(CAST(`t`.`a` AS DECIMAL(10,0)) AS DECIMAL(30,20)) / 2.5 AS DECIMAL(31,20)) "
        "AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT n / u from t",
        "SELECT CAST(CAST(`t`.`n` AS DOUBLE) / CAST(`t`.`u` AS DOUBLE) AS DECIMAL(38,18)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT u * u from t",
        "SELECT CAST(CASE WHEN (ABS(`t`.`u`) < 10000000000) AND (ABS(`t`.`u`) < 10000000000) THEN "
        "CAST(CAST(`t`.`u` AS DECIMAL(28,18)) * CAST(`t`.`u` AS DECIMAL(28,18)) AS DECIMAL(38,18)) "
        "ELSE CAST(`t`.`u` * `t`.`u` AS DECIMAL(38,18)) END AS DECIMAL(38,18)) AS `c0` FROM `t_data` "
        "AS `t`",
    ),
    (
        "SELECT x + 1 from t",
        "SELECT CAST(`t`.`x` + /* bigint */ CAST(1 AS BIGINT) AS BIGINT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a % 3 from t",
        "SELECT CAST(`t`.`a` % 3 AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a ^ 2 from t",
        "SELECT CAST(CASE WHEN (CAST(`t`.`a` AS DOUBLE) = 0) AND (CAST(2 AS DOUBLE) < 0) THEN "
        "RAISE_ERROR('2201F:zero raised to a negative power is undefined') WHEN ((CAST(`t`.`a` AS DOUBLE) < "
        "0) AND (CAST(`t`.`a` AS DOUBLE) > CAST('-Infinity' AS DOUBLE))) AND (CAST(2 AS DOUBLE) <> "
        "RINT(CAST(2 AS DOUBLE))) THEN RAISE_ERROR('2201F:a negative number raised to a non-integer power "
        "yields a complex result') WHEN ((ABS(POWER(CAST(`t`.`a` AS DOUBLE), CAST(2 AS DOUBLE))) = "
        "CAST('Infinity' AS DOUBLE)) AND (ABS(CAST(`t`.`a` AS DOUBLE)) < CAST('Infinity' AS DOUBLE))) AND "
        "(ABS(CAST(2 AS DOUBLE)) < CAST('Infinity' AS DOUBLE)) THEN RAISE_ERROR('22003:value out of range: "
        "overflow') ELSE POWER(CAST(`t`.`a` AS DOUBLE), CAST(2 AS DOUBLE)) END AS DOUBLE) AS `c0` FROM "
        "`t_data` AS `t`",
    ),
    (
        "SELECT b || a from t",
        "SELECT CAST(CONCAT(`t`.`b`, CAST(`t`.`a` AS STRING)) AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT d + 1 from t",
        "SELECT CAST(DATE_ADD(`t`.`d`, 1) AS DATE) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT d - d from t",
        "SELECT CAST(DATEDIFF(`t`.`d`, `t`.`d`) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT d + interval '1 day' from t",
        "SELECT CAST(CAST(`t`.`d` AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 0, 0, 1, 0, 0, 0.000000) AS "
        "TIMESTAMP_NTZ) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT ts - interval '1 month' from t",
        "SELECT CAST(`t`.`ts` - MAKE_INTERVAL(0, 1, 0, 0, 0, 0, 0.000000) AS TIMESTAMP_NTZ) AS `c0` "
        "FROM `t_data` AS `t`",
    ),
    (
        "SELECT ts - ts > interval '5 minutes' from t",
        "SELECT CAST((UNIX_MICROS(CAST(`t`.`ts` AS TIMESTAMP)) - /* bigint */ "
        "UNIX_MICROS(CAST(`t`.`ts` AS TIMESTAMP))) > 300000000 AS BOOLEAN) AS `c0` FROM `t_data` AS "
        "`t`",
    ),
    (
        "SELECT a::text from t",
        "SELECT CAST(`t`.`a` AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT n::int from t",
        "SELECT CAST(ROUND(`t`.`n`, 0) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT f::int from t",
        "SELECT CAST(RINT(`t`.`f`) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT b::varchar(3) from t",
        "SELECT CAST(SUBSTRING(`t`.`b`, 1, 3) AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT b::char(3) from t",
        "SELECT CAST(RTRIM(SUBSTRING(`t`.`b`, 1, 3)) AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT tz::text from p",
        "SELECT CAST(CONCAT(CAST(`p`.`tz` AS STRING), '+00') AS STRING) AS `c0` FROM `p_data` AS `p`",
    ),
    (
        "SELECT u::text from t",
        "SELECT CAST(REGEXP_REPLACE(CAST(`t`.`u` AS STRING), '\\\\.?0+$', '') AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT sum(x) from t",
        "SELECT CAST(SUM(CAST(`t`.`x` AS DECIMAL(19,0))) AS DECIMAL(29,0)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT avg(a) from t",
        "SELECT CAST(CAST(SUM(CAST(`t`.`a` AS DECIMAL(20,0))) AS DECIMAL(38,16)) / COUNT(`t`.`a`) AS "
        "DECIMAL(38,16)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT avg(distinct a) from t",
        "SELECT CAST(CAST(SUM(DISTINCT CAST(`t`.`a` AS DECIMAL(20,0))) AS DECIMAL(38,16)) / "
        "COUNT(DISTINCT `t`.`a`) AS DECIMAL(38,16)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT avg(a) filter (where a > 1) from t",
        "SELECT CAST(CAST(SUM(CAST(`t`.`a` AS DECIMAL(20,0))) FILTER (WHERE `t`.`a` > 1) AS "
        "DECIMAL(38,16)) / (COUNT(`t`.`a`) FILTER (WHERE `t`.`a` > 1)) AS DECIMAL(38,16)) AS `c0` "
        "FROM `t_data` AS `t`",
    ),
    (
        "SELECT avg(a) over (partition by b order by d) from t",
        "SELECT CAST(CAST(SUM(CAST(`t`.`a` AS DECIMAL(20,0))) OVER (PARTITION BY `t`.`b` ORDER BY "
        "`t`.`d` ASC NULLS LAST) AS DECIMAL(38,16)) / COUNT(`t`.`a`) OVER (PARTITION BY `t`.`b` ORDER "
        "BY `t`.`d` ASC NULLS LAST) AS DECIMAL(38,16)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT sum(a) filter (where a > 1) over () from t",
        "SELECT CAST(SUM(CASE WHEN `t`.`a` > 1 THEN `t`.`a` END) OVER () AS BIGINT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT count(*) from t",
        "SELECT CAST(COUNT(*) AS BIGINT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT string_agg(b, ',' order by a) from t",
        "SELECT CAST(LISTAGG(`t`.`b`, ',') WITHIN GROUP (ORDER BY `t`.`a` ASC NULLS LAST) AS STRING) "
        "AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT string_agg(distinct b, ',') from t",
        "SELECT CAST(LISTAGG(DISTINCT `t`.`b`, ',') AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT percentile_cont(0.5) within group (order by f) from t",
        "SELECT CAST(PERCENTILE_CONT(CAST(0.5 AS DOUBLE)) WITHIN GROUP (ORDER BY `t`.`f` ASC NULLS "
        "LAST) AS DOUBLE) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT row_number() over () from t",
        "SELECT CAST(ROW_NUMBER() OVER (ORDER BY CAST(NULL AS INT) ASC NULLS LAST) AS BIGINT) AS `c0` "
        "FROM `t_data` AS `t`",
    ),
    (
        "SELECT rank() over (order by a desc rows between 1 preceding and current row) from t",
        "SELECT CAST(RANK() OVER (ORDER BY `t`.`a` DESC NULLS FIRST) AS BIGINT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT lag(a, 2, 0) over (order by d) from t",
        "SELECT CAST(LAG(`t`.`a`, 2, 0) OVER (ORDER BY `t`.`d` ASC NULLS LAST) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a from t order by b",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t` ORDER BY `t`.`b` ASC NULLS LAST",
    ),
    (
        "SELECT a from t order by b desc",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t` ORDER BY `t`.`b` DESC NULLS FIRST",
    ),
    (
        "SELECT a from t order by a nulls first",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t` ORDER BY `c0` ASC NULLS FIRST",
    ),
    (
        "SELECT distinct on (b) b, a from t order by b, d desc",
        "SELECT CAST(`q`.`b` AS STRING) AS `c0`, CAST(`q`.`a` AS INT) AS `c1` FROM (SELECT `t`.`b` AS "
        "`b`, `t`.`a` AS `a`, CAST(ROW_NUMBER() OVER (PARTITION BY `t`.`b` ORDER BY `t`.`b` ASC NULLS "
        "LAST, `t`.`d` DESC NULLS FIRST) AS BIGINT) AS `row number`, `t`.`b` AS `order 0`, `t`.`d` AS "
        "`order 1` FROM `t_data` AS `t`) AS `q` WHERE `q`.`row number` = 1 ORDER BY `q`.`order 0` ASC "
        "NULLS LAST, `q`.`order 1` DESC NULLS FIRST",
    ),
    (
        "SELECT a, count(*) from t group by rollup (a)",
        "SELECT CAST(`q`.`c0` AS INT) AS `c0`, CAST(`q`.`c1` AS BIGINT) AS `c1` FROM ((SELECT `t`.`a` AS"
        " `a`, COUNT(*) AS `count` FROM `t_data` AS `t` GROUP BY ROLLUP ((`t`.`a`))) UNION ALL (SELECT "
        "CAST(NULL AS INT) AS `a`, COUNT(*) AS `count` FROM `t_data` AS `t` WHERE FALSE HAVING NOT "
        "EXISTS (SELECT 1 AS `one` FROM `t_data` AS `t`))) AS `q`(`c0`, `c1`)",
    ),
    (
        "SELECT 5, count(*) from t group by 1",
        "SELECT CAST(5 AS INT) AS `c0`, CAST(COUNT(*) AS BIGINT) AS `c1` FROM `t_data` AS `t` GROUP BY CAST(5 AS INT)",
    ),
    (
        "SELECT grouping(a, b) from t group by cube (a, b)",
        "SELECT CAST(`q`.`c0` AS INT) AS `c0` FROM ((SELECT CAST((GROUPING(`t`.`a`) * 2) + "
        "GROUPING(`t`.`b`) AS INT) AS `grouping` FROM `t_data` AS `t` GROUP BY CUBE ((`t`.`a`), "
        "(`t`.`b`))) UNION ALL (SELECT 3 AS `grouping` FROM `t_data` AS `t` WHERE FALSE HAVING NOT "
        "EXISTS (SELECT 1 AS `one` FROM `t_data` AS `t`))) AS `q`(`c0`)",
    ),
    (
        "SELECT b like 'a\\%' from t",
        "SELECT CAST(`t`.`b` LIKE 'a\\\\%' AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT b like 'a!%' escape '!' from t",
        "SELECT CAST(`t`.`b` LIKE 'a\\\\%' AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT b similar to 'a%(b|c)' from t",
        "SELECT CAST(`t`.`b` RLIKE '(?s)^(?:a.*(?:b|c))$' AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT b ~* '^x' from t",
        "SELECT CAST(`t`.`b` RLIKE '(?i)^x' AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a is not distinct from 1 from t",
        "SELECT CAST(`t`.`a` <=> 1 AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a is distinct from 1 from t",
        "SELECT CAST(NOT (`t`.`a` <=> 1) AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a between symmetric 1 and 2 from t",
        "SELECT CAST((`t`.`a` BETWEEN 1 AND 2) OR (`t`.`a` BETWEEN 2 AND 1) AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT (a, b) < (1, 'x') from t",
        "SELECT CAST((`t`.`a` < 1) OR ((`t`.`a` = 1) AND (`t`.`b` < 'x')) AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a > all (select a from s) from t",
        "SELECT CAST(CASE WHEN EXISTS (SELECT 1 AS `one` FROM (SELECT `s`.`a` AS `a` FROM `s_data` AS "
        "`s`) AS `any row`(`value`) WHERE `t`.`a` <= `any row`.`value`) THEN FALSE WHEN EXISTS "
        "(SELECT 1 AS `one` FROM (SELECT `s`.`a` AS `a` FROM `s_data` AS `s`) AS `any row`(`value`) "
        "WHERE (`t`.`a` <= `any row`.`value`) IS NULL) THEN NULL ELSE TRUE END AS BOOLEAN) AS `c0` "
        "FROM `t_data` AS `t`",
    ),
    (
        "SELECT a <> all (select a from s) from t",
        "SELECT CAST(NOT (`t`.`a` IN (SELECT `s`.`a` AS `a` FROM `s_data` AS `s`)) AS BOOLEAN) AS "
        "`c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a = any ('{1,2}') from t",
        "SELECT CAST(`t`.`a` IN (1, 2) AS BOOLEAN) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT extract(dow from d) from t",
        "SELECT CAST(DAYOFWEEK(`t`.`d`) - 1 AS DECIMAL(10,0)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT extract(epoch from ts) from t",
        "SELECT CAST(CAST(UNIX_MICROS(CAST(`t`.`ts` AS TIMESTAMP)) AS DECIMAL(20,0)) / 1000000 AS "
        "DECIMAL(20,6)) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT date_trunc('hour', ts) from t",
        "SELECT CAST(DATE_TRUNC('HOUR', `t`.`ts`) AS TIMESTAMP_NTZ) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT ts at time zone 'Europe/Berlin' from t",
        "SELECT CAST(TO_UTC_TIMESTAMP(CAST(`t`.`ts` AS TIMESTAMP), 'Europe/Berlin') AS TIMESTAMP) AS "
        "`c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT tz at time zone 'Europe/Berlin' from p",
        "SELECT CAST(FROM_UTC_TIMESTAMP(`p`.`tz`, 'Europe/Berlin') AS TIMESTAMP_NTZ) AS `c0` FROM `p_data` AS `p`",
    ),
    (
        "SELECT to_char(ts, 'YYYY-MM') from t",
        "SELECT CAST(CONCAT(DATE_FORMAT(`t`.`ts`, 'yyyy'), '-', DATE_FORMAT(`t`.`ts`, 'MM')) AS "
        "STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT now() - interval '1 hour'",
        "SELECT CAST(CAST('2024-05-06 07:08:09+00:00' AS TIMESTAMP) - MAKE_INTERVAL(0, 0, 0, 0, 0, 0, "
        "3600.000000) AS TIMESTAMP) AS `c0`",
    ),
    (
        "SELECT concat(a, b, ok) from t, p",
        "SELECT CAST(CONCAT(COALESCE(CAST(`t`.`a` AS STRING), ''), COALESCE(`t`.`b`, ''), "
        "COALESCE(CASE WHEN `p`.`ok` THEN 't' WHEN NOT `p`.`ok` THEN 'f' END, '')) AS STRING) AS `c0` "
        "FROM `t_data` AS `t`, `p_data` AS `p`",
    ),
    (
        "SELECT left(b, 2) from t",
        "SELECT CAST(SUBSTRING(`t`.`b`, 1, 2) AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT substring(b, a) from t",
        "SELECT CAST(SUBSTRING(`t`.`b`, GREATEST(`t`.`a`, 1)) AS STRING) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT regexp_replace(b, 'x(.)', '\\1') from t",
        "SELECT CAST(REGEXP_REPLACE(`t`.`b`, '\\\\A((?s:.*?))(?:x(.))', '$1$2') AS STRING) AS `c0` FROM "
        "`t_data` AS `t`",
    ),
    (
        "SELECT coalesce(a, 0) from t",
        "SELECT CAST(COALESCE(`t`.`a`, 0) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT nullif(a, 1) from t",
        "SELECT CAST(CASE WHEN `t`.`a` = 1 THEN NULL ELSE `t`.`a` END AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT a, total from v where total > 1",
        "SELECT CAST(`v`.`a` AS INT) AS `c0`, CAST(`v`.`count` AS BIGINT) AS `c1` FROM (SELECT "
        "`t`.`a` AS `a`, COUNT(*) AS `count` FROM `t_data` AS `t` GROUP BY `t`.`a`) AS `v` WHERE "
        "`v`.`count` > 1",
    ),
    (
        "SELECT * from (values (1, 'x')) as q(i, j)",
        "SELECT CAST(`q`.`column1` AS INT) AS `c0`, CAST(`q`.`column2` AS STRING) AS `c1` FROM "
        "(SELECT `values`.`column1` AS `column1`, `values`.`column2` AS `column2` FROM VALUES (1, "
        "'x') AS `values`(`column1`, `column2`)) AS `q`",
    ),
    (
        "SELECT * from (values (random())) as q(i)",
        "SELECT CAST(`q`.`column1` AS DOUBLE) AS `c0` FROM (SELECT `values`.`column1` AS `column1` "
        "FROM (SELECT RAND()) AS `values`(`column1`)) AS `q`",
    ),
    (
        "SELECT i from generate_series(1, 3) as i",
        "SELECT CAST(`i@`.`generate_series` AS INT) AS `c0` FROM (SELECT CAST(`id` AS INT) AS "
        "`generate_series` FROM RANGE(1, 4, 1)) AS `i@`",
    ),
    (
        "SELECT g from t, generate_series(1, a) as g",
        "SELECT CAST(`g@`.`generate_series` AS INT) AS `c0` FROM `t_data` AS `t`, LATERAL "
        "EXPLODE(CASE WHEN CAST(1 AS INT) = 0 THEN RAISE_ERROR('22023:step size cannot equal zero') "
        "WHEN ((CAST(1 AS INT) > 0) AND (1 <= `t`.`a`)) OR ((CAST(1 AS INT) < 0) AND (1 >= `t`.`a`)) "
        "THEN SEQUENCE(1, `t`.`a`, CAST(1 AS INT)) ELSE SLICE(SEQUENCE(1, 1), 1, 0) END) AS "
        "`g@`(`generate_series`)",
    ),
    (
        "SELECT x.a from t x left join s y using (a)",
        "SELECT `x@`.`a` AS `c0` FROM `t_data` AS `x@` LEFT JOIN `s_data` AS `y` ON `x@`.`a` = `y`.`a`",
    ),
    (
        "SELECT a from t full join s using (a)",
        "SELECT CAST(COALESCE(`t`.`a`, `s`.`a`) AS INT) AS `c0` FROM `t_data` AS `t` FULL JOIN "
        "`s_data` AS `s` ON `t`.`a` = `s`.`a`",
    ),
    (
        "SELECT t.a from t, lateral (select s.a from s where s.a = t.a) l",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t`, LATERAL (SELECT `s`.`a` AS `a` FROM `s_data` AS "
        "`s` WHERE `s`.`a` = `t`.`a`) AS `l`",
    ),
    (
        'SELECT "Mixed", "select" from p',
        "SELECT `p`.`Mixed` AS `c0`, `p`.`select` AS `c1` FROM `p_data` AS `p`",
    ),
    (
        "SELECT table_name from information_schema.columns",
        "SELECT `columns`.`table_name` AS `c0` FROM `columns_data` AS `columns`",
    ),
    (
        "SELECT a from t limit 10 offset 5",
        "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t` LIMIT 10 OFFSET 5",
    ),
    (
        "SELECT a from t union all select a from s order by 1",
        "SELECT CAST(`q`.`c0` AS INT) AS `c0` FROM ((SELECT `t`.`a` AS `a` FROM `t_data` AS `t`) "
        "UNION ALL (SELECT `s`.`a` AS `a` FROM `s_data` AS `s`) ORDER BY `a` ASC NULLS LAST) AS "
        "`q`(`c0`)",
    ),
    (
        "SELECT array_agg(a) from s",
        "SELECT CAST(CASE WHEN COUNT(1) > 0 THEN TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('k0', "
        "`s`.`tid`, 'item', `s`.`a`)), (a, b) -> CASE WHEN a['k0'] <=> b['k0'] THEN 0 WHEN a['k0'] IS "
        "NULL THEN 1 WHEN b['k0'] IS NULL THEN - 1 WHEN a['k0'] < b['k0'] THEN - 1 ELSE 1 END), x -> "
        "x['item']) END AS ARRAY<INT>) AS `c0` FROM `s_data` AS `s`",
    ),
    (
        "SELECT array_agg(distinct a order by a desc) from t",
        "SELECT CAST(CASE WHEN COUNT(1) > 0 THEN TRANSFORM(ARRAY_SORT(COLLECT_SET(NAMED_STRUCT('item', "
        "`t`.`a`)), (a, b) -> CASE WHEN a['item'] <=> b['item'] THEN 0 WHEN a['item'] IS NULL THEN - 1 "
        "WHEN b['item'] IS NULL THEN 1 WHEN a['item'] < b['item'] THEN 1 ELSE - 1 END), x -> x['item']) "
        "END AS ARRAY<INT>) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT last(c) filter (where a > 1) from s",
        "SELECT CAST(MAX_BY(`s`.`c`, `s`.`tid`) FILTER (WHERE `s`.`a` > 1) AS STRING) AS `c0` FROM `s_data` AS `s`",
    ),
    (
        "SELECT percentile_disc(0.5) within group (order by b desc) from t",
        "SELECT CAST(ELEMENT_AT(TRANSFORM(ARRAY(SORT_ARRAY(COLLECT_LIST(`t`.`b`), FALSE)), v -> GET(v, "
        "CAST(GREATEST(CEIL(CAST(0.5 AS DOUBLE) * SIZE(v)) - 1, 0) AS INT))), 1) AS STRING) AS `c0` FROM "
        "`t_data` AS `t`",
    ),
    (
        "SELECT (array[a, 2])[x] from t",
        "SELECT CAST(GET(ARRAY(`t`.`a`, 2), CAST(`t`.`x` AS INT) - 1) AS INT) AS `c0` FROM `t_data` AS `t`",
    ),
    (
        "SELECT id, name from p group by id",
        "SELECT `p`.`id` AS `c0`, `p`.`name` AS `c1` FROM `p_data` AS `p` GROUP BY `p`.`id`, `p`.`name`",
    ),
    (
        "SELECT a, (select max(id) from p where id > t.a), count(*) from t group by a having sum(x) > 1",
        "SELECT CAST(`the groups`.`key 0` AS INT) AS `c0`, CAST((SELECT MAX(`p`.`id`) AS `max` FROM "
        "`p_data` AS `p` WHERE `p`.`id` > `the groups`.`key 0`) AS INT) AS `c1`, CAST(`the "
        "groups`.`value 1` AS BIGINT) AS `c2` FROM (SELECT `t`.`a` AS `key 0`, COUNT(*) AS `value 1`, "
        "SUM(CAST(`t`.`x` AS DECIMAL(19,0))) AS `value 2` FROM `t_data` AS `t` GROUP BY `t`.`a`) AS `the "
        "groups` WHERE `the groups`.`value 2` > 1",
    ),
    (
        "SELECT a from t order by (select max(id) from p where id > t.a), a",
        "SELECT CAST(`q`.`a` AS INT) AS `c0` FROM (SELECT `t`.`a` AS `a`, (SELECT MAX(`p`.`id`) AS `max` "
        "FROM `p_data` AS `p` WHERE `p`.`id` > `t`.`a`) AS `order 0`, `t`.`a` AS `order 1` FROM `t_data` "
        "AS `t`) AS `q` ORDER BY `q`.`order 0` ASC NULLS LAST, `q`.`order 1` ASC NULLS LAST",
    ),
)


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[sql for sql, _ in CASES])
def test_golden(sql: str, expected: str) -> None:
    assert spark(sql) == expected
