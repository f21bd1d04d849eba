-- TPC-H 1
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
  sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty,
  avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order
FROM lineitem WHERE l_shipdate <= date '1998-12-01' - interval '90 day'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_returnflag` AS `k0`, `lineitem`.`l_linestatus` AS `k1`, SUM(SHIFTRIGHT(CAST(`lineitem`.`l_quantity` * 100 AS BIGINT), 32)) AS `p0`, SUM(CAST(`lineitem`.`l_quantity` * 100 AS BIGINT) & 4294967295) AS `p1`, SUM(SHIFTRIGHT(CAST(`lineitem`.`l_extendedprice` * 100 AS BIGINT), 32)) AS `p2`, SUM(CAST(`lineitem`.`l_extendedprice` * 100 AS BIGINT) & 4294967295) AS `p3`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p4`, SUM(CAST(CASE WHEN (ABS(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`)) < 10000000000) AND (ABS(CAST(1 AS DECIMAL(1,0)) + `lineitem`.`l_tax`) < 10000000000) THEN CAST(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(28,18)) * CAST(CAST(1 AS DECIMAL(1,0)) + `lineitem`.`l_tax` AS DECIMAL(28,18)) AS DECIMAL(38,18)) ELSE CAST((`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`)) * (CAST(1 AS DECIMAL(1,0)) + `lineitem`.`l_tax`) AS DECIMAL(38,18)) END AS DECIMAL(38,18))) AS `p5`, COUNT(`lineitem`.`l_quantity`) AS `p6`, COUNT(`lineitem`.`l_extendedprice`) AS `p7`, SUM(SHIFTRIGHT(CAST(`lineitem`.`l_discount` * 100 AS BIGINT), 32)) AS `p8`, SUM(CAST(`lineitem`.`l_discount` * 100 AS BIGINT) & 4294967295) AS `p9`, COUNT(`lineitem`.`l_discount`) AS `p10`, COUNT(*) AS `p11` FROM `lineitem` AS `lineitem` WHERE `lineitem`.`l_shipdate` <= (CAST(CAST('1998-12-01' AS DATE) AS TIMESTAMP_NTZ) - MAKE_INTERVAL(0, 0, 0, 90, 0, 0, 0.000000)) GROUP BY `lineitem`.`l_returnflag`, `lineitem`.`l_linestatus`
  key k0 STRING: lineitem.l_returnflag
  key k1 STRING: lineitem.l_linestatus
  partial p0 BIGINT: high of sum(lineitem.l_quantity)
  partial p1 BIGINT: low of sum(lineitem.l_quantity)
  partial p2 BIGINT: high of sum(lineitem.l_extendedprice)
  partial p3 BIGINT: low of sum(lineitem.l_extendedprice)
  partial p4 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  partial p5 DECIMAL(38,18): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount) * (1 + lineitem.l_tax))
  partial p6 BIGINT: rows of avg(lineitem.l_quantity)
  partial p7 BIGINT: rows of avg(lineitem.l_extendedprice)
  partial p8 BIGINT: high of avg(lineitem.l_discount)
  partial p9 BIGINT: low of avg(lineitem.l_discount)
  partial p10 BIGINT: rows of avg(lineitem.l_discount)
  partial p11 BIGINT: rows of count(*)
  merge
    SELECT k0, k1, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1, SUM(p2) + SHIFTRIGHT(SUM(p3), 32) AS p2, SUM(p3) & 4294967295 AS p3, CAST(SUM(p4) AS DECIMAL(36,4)) AS p4, CAST(SUM(p5) AS DECIMAL(38,18)) AS p5, SUM(p6) AS p6, SUM(p7) AS p7, SUM(p8) + SHIFTRIGHT(SUM(p9), 32) AS p8, SUM(p9) & 4294967295 AS p9, SUM(p10) AS p10, SUM(p11) AS p11 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`k1` AS STRING) AS `c1`, CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `c2`, CAST(CAST(((CAST(`merged_0`.`p2` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p3` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `c3`, CAST(`merged_0`.`p4` AS DECIMAL(36,4)) AS `c4`, CAST(`merged_0`.`p5` AS DECIMAL(38,18)) AS `c5`, CAST(CAST(CAST(CAST(((CAST(`merged_0`.`p0` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p1` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS DECIMAL(38,18)) / NULLIF(`merged_0`.`p6`, 0) AS DECIMAL(38,16)) AS `c6`, CAST(CAST(CAST(CAST(((CAST(`merged_0`.`p2` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p3` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS DECIMAL(38,18)) / NULLIF(`merged_0`.`p7`, 0) AS DECIMAL(38,16)) AS `c7`, CAST(CAST(CAST(CAST(((CAST(`merged_0`.`p8` AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(`merged_0`.`p9` AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS DECIMAL(38,18)) / NULLIF(`merged_0`.`p10`, 0) AS DECIMAL(38,16)) AS `c8`, CAST(COALESCE(`merged_0`.`p11`, 0) AS BIGINT) AS `c9` FROM `state_0` AS `merged_0`

-- TPC-H 2
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part, supplier, partsupp, nation, region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS'
  AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
  AND ps_supplycost = (SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region
    WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey
      AND n_regionkey = r_regionkey AND r_name = 'EUROPE')
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere

-- TPC-H 3
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10;
----
static pipeline static_0
  SELECT `orders`.`o_orderdate` AS `o_orderdate`, `orders`.`o_shippriority` AS `o_shippriority`, `orders`.`o_orderkey` AS `o_orderkey` FROM `customer` AS `customer`, `orders` AS `orders` WHERE ((`customer`.`c_mktsegment` = 'BUILDING') AND (`customer`.`c_custkey` = `orders`.`o_custkey`)) AND (`orders`.`o_orderdate` < CAST('1995-03-15' AS DATE))
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_orderkey` AS `k0`, `customer+orders`.`o_orderdate` AS `k1`, `customer+orders`.`o_shippriority` AS `k2`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p0` FROM `static_0` AS `customer+orders`, `lineitem` AS `lineitem` WHERE (`lineitem`.`l_orderkey` = `customer+orders`.`o_orderkey`) AND (`lineitem`.`l_shipdate` > CAST('1995-03-15' AS DATE)) GROUP BY `lineitem`.`l_orderkey`, `customer+orders`.`o_orderdate`, `customer+orders`.`o_shippriority`
  key k0 INT: lineitem.l_orderkey
  key k1 DATE: orders.o_orderdate
  key k2 INT: orders.o_shippriority
  partial p0 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT k0, k1, k2, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0 GROUP BY k0, k1, k2
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(`merged_0`.`p0` AS DECIMAL(36,4)) AS `c1`, CAST(`merged_0`.`k1` AS DATE) AS `c2`, CAST(`merged_0`.`k2` AS INT) AS `c3` FROM `state_0` AS `merged_0` ORDER BY `c1` DESC NULLS FIRST, `c2` ASC NULLS LAST LIMIT 10
pinned tables: customer, orders

-- TPC-H 4
SELECT o_orderpriority, count(*) AS order_count FROM orders
WHERE o_orderdate >= date '1993-07-01' AND o_orderdate < date '1993-07-01' + interval '3 month'
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_orderkey` AS `k0` FROM `lineitem` AS `lineitem` WHERE `lineitem`.`l_commitdate` < `lineitem`.`l_receiptdate` GROUP BY `lineitem`.`l_orderkey`
  key k0 INT: lineitem.l_orderkey
  merge
    SELECT k0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `orders`.`o_orderpriority` AS `c0`, CAST(COUNT(*) AS BIGINT) AS `c1` FROM `orders` AS `orders` WHERE ((`orders`.`o_orderdate` >= CAST('1993-07-01' AS DATE)) AND (`orders`.`o_orderdate` < (CAST(CAST('1993-07-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 3, 0, 0, 0, 0, 0.000000)))) AND EXISTS (SELECT 1 AS `found` FROM `state_0` AS `merged_0` WHERE `merged_0`.`k0` = `orders`.`o_orderkey` GROUP BY `merged_0`.`k0`) GROUP BY `orders`.`o_orderpriority`
live tables: orders

-- TPC-H 5
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
  AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
  AND o_orderdate >= date '1994-01-01' AND o_orderdate < date '1994-01-01' + interval '1 year'
GROUP BY n_name ORDER BY revenue DESC;
----
notice: ORDER BY is dropped: ask for the order when you query the view
static pipeline static_0
  SELECT `nation`.`n_name` AS `n_name`, `orders`.`o_orderkey` AS `o_orderkey`, `customer`.`c_nationkey` AS `c_nationkey` FROM `customer` AS `customer`, `orders` AS `orders`, `nation` AS `nation`, `region` AS `region` WHERE (((((`customer`.`c_custkey` = `orders`.`o_custkey`) AND (`nation`.`n_regionkey` = `region`.`r_regionkey`)) AND (`region`.`r_name` = 'ASIA')) AND (`orders`.`o_orderdate` >= CAST('1994-01-01' AS DATE))) AND (`orders`.`o_orderdate` < (CAST(CAST('1994-01-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 12, 0, 0, 0, 0, 0.000000)))) AND (`customer`.`c_nationkey` = `nation`.`n_nationkey`)
grouping state_0
  stream pipeline over "lineitem"
    SELECT `customer+orders+nation+region`.`n_name` AS `k0`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p0` FROM `static_0` AS `customer+orders+nation+region`, `lineitem` AS `lineitem`, `supplier` AS `supplier` WHERE ((`lineitem`.`l_orderkey` = `customer+orders+nation+region`.`o_orderkey`) AND (`lineitem`.`l_suppkey` = `supplier`.`s_suppkey`)) AND (`supplier`.`s_nationkey` = `customer+orders+nation+region`.`c_nationkey`) GROUP BY `customer+orders+nation+region`.`n_name`
  key k0 STRING: nation.n_name
  partial p0 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT k0, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`p0` AS DECIMAL(36,4)) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: supplier, customer, orders, nation, region

-- TPC-H 6
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1994-01-01' + interval '1 year'
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24;
----
grouping state_0
  stream pipeline over "lineitem"
    SELECT SUM(CAST(`lineitem`.`l_extendedprice` * `lineitem`.`l_discount` AS DECIMAL(25,4))) AS `p0` FROM `lineitem` AS `lineitem` WHERE (((`lineitem`.`l_shipdate` >= CAST('1994-01-01' AS DATE)) AND (`lineitem`.`l_shipdate` < (CAST(CAST('1994-01-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 12, 0, 0, 0, 0, 0.000000)))) AND (`lineitem`.`l_discount` BETWEEN (0.06 - 0.01) AND (0.06 + 0.01))) AND (`lineitem`.`l_quantity` < 24)
  partial p0 DECIMAL(35,4): total of sum(lineitem.l_extendedprice * lineitem.l_discount)
  merge
    SELECT CAST(SUM(p0) AS DECIMAL(35,4)) AS p0 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS DECIMAL(35,4)) AS `c0` FROM `state_0` AS `merged_0`

-- TPC-H 7
SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, extract(year FROM l_shipdate) AS l_year,
    l_extendedprice * (1 - l_discount) AS volume
  FROM supplier, lineitem, orders, customer, nation n1, nation n2
  WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey
    AND c_nationkey = n2.n_nationkey AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY')
      OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
    AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31') AS shipping
GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year;
----
notice: ORDER BY is dropped: ask for the order when you query the view
static pipeline static_0
  SELECT `supplier`.`s_suppkey` AS `s_suppkey`, `n1`.`n_name` AS `n_name` FROM `supplier` AS `supplier`, `nation` AS `n1` WHERE (`supplier`.`s_nationkey` = `n1`.`n_nationkey`) AND ((`n1`.`n_name` = 'FRANCE') OR (`n1`.`n_name` = 'GERMANY'))
static pipeline static_1
  SELECT `orders`.`o_orderkey` AS `o_orderkey`, `n2`.`n_name` AS `n_name` FROM `orders` AS `orders`, `customer` AS `customer`, `nation` AS `n2` WHERE ((`customer`.`c_custkey` = `orders`.`o_custkey`) AND (`customer`.`c_nationkey` = `n2`.`n_nationkey`)) AND ((`n2`.`n_name` = 'GERMANY') OR (`n2`.`n_name` = 'FRANCE'))
grouping state_0
  stream pipeline over "lineitem"
    SELECT CAST(`shipping`.`supp_nation` AS STRING) AS `k0`, CAST(`shipping`.`cust_nation` AS STRING) AS `k1`, CAST(`shipping`.`l_year` AS DECIMAL(10,0)) AS `k2`, SUM(CAST(`shipping`.`volume` AS DECIMAL(26,4))) AS `p0` FROM (SELECT `supplier+n1`.`n_name` AS `supp_nation`, `orders+customer+n2`.`n_name` AS `cust_nation`, CAST(YEAR(`lineitem`.`l_shipdate`) AS DECIMAL(10,0)) AS `l_year`, `lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS `volume` FROM `static_0` AS `supplier+n1`, `lineitem` AS `lineitem`, `static_1` AS `orders+customer+n2` WHERE (((`supplier+n1`.`s_suppkey` = `lineitem`.`l_suppkey`) AND (`orders+customer+n2`.`o_orderkey` = `lineitem`.`l_orderkey`)) AND (((`supplier+n1`.`n_name` = 'FRANCE') AND (`orders+customer+n2`.`n_name` = 'GERMANY')) OR ((`supplier+n1`.`n_name` = 'GERMANY') AND (`orders+customer+n2`.`n_name` = 'FRANCE')))) AND (`lineitem`.`l_shipdate` BETWEEN CAST('1995-01-01' AS DATE) AND CAST('1996-12-31' AS DATE))) AS `shipping` GROUP BY `shipping`.`supp_nation`, `shipping`.`cust_nation`, `shipping`.`l_year`
  key k0 STRING: shipping.supp_nation
  key k1 STRING: shipping.cust_nation
  key k2 DECIMAL(10,0): shipping.l_year
  partial p0 DECIMAL(36,4): total of sum(shipping.volume)
  merge
    SELECT k0, k1, k2, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0 GROUP BY k0, k1, k2
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`k1` AS STRING) AS `c1`, CAST(`merged_0`.`k2` AS DECIMAL(10,0)) AS `c2`, CAST(`merged_0`.`p0` AS DECIMAL(36,4)) AS `c3` FROM `state_0` AS `merged_0`
pinned tables: supplier, nation, orders, customer

-- TPC-H 8
SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (SELECT extract(year FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
  FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
  WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
    AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
    AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31'
    AND p_type = 'ECONOMY ANODIZED STEEL') AS all_nations
GROUP BY o_year ORDER BY o_year;
----
notice: ORDER BY is dropped: ask for the order when you query the view
static pipeline static_0
  SELECT `orders`.`o_orderkey` AS `o_orderkey`, `orders`.`o_orderdate` AS `o_orderdate` FROM `orders` AS `orders`, `customer` AS `customer`, `nation` AS `n1`, `region` AS `region` WHERE ((((`orders`.`o_custkey` = `customer`.`c_custkey`) AND (`customer`.`c_nationkey` = `n1`.`n_nationkey`)) AND (`n1`.`n_regionkey` = `region`.`r_regionkey`)) AND (`region`.`r_name` = 'AMERICA')) AND (`orders`.`o_orderdate` BETWEEN CAST('1995-01-01' AS DATE) AND CAST('1996-12-31' AS DATE))
static pipeline static_1
  SELECT `part`.`p_partkey` AS `p_partkey` FROM `part` AS `part` WHERE `part`.`p_type` = 'ECONOMY ANODIZED STEEL'
grouping state_0
  stream pipeline over "lineitem"
    SELECT CAST(`all_nations`.`o_year` AS DECIMAL(10,0)) AS `k0`, SUM(CAST(CASE WHEN `all_nations`.`nation` = 'BRAZIL' THEN `all_nations`.`volume` ELSE CAST(0 AS DECIMAL(26,4)) END AS DECIMAL(26,4))) AS `p0`, SUM(CAST(`all_nations`.`volume` AS DECIMAL(26,4))) AS `p1` FROM (SELECT CAST(YEAR(`orders+customer+n1+region`.`o_orderdate`) AS DECIMAL(10,0)) AS `o_year`, `lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS `volume`, `n2`.`n_name` AS `nation` FROM `static_1` AS `part`, `supplier` AS `supplier`, `lineitem` AS `lineitem`, `static_0` AS `orders+customer+n1+region`, `nation` AS `n2` WHERE (((`part`.`p_partkey` = `lineitem`.`l_partkey`) AND (`supplier`.`s_suppkey` = `lineitem`.`l_suppkey`)) AND (`lineitem`.`l_orderkey` = `orders+customer+n1+region`.`o_orderkey`)) AND (`supplier`.`s_nationkey` = `n2`.`n_nationkey`)) AS `all_nations` GROUP BY `all_nations`.`o_year`
  key k0 DECIMAL(10,0): all_nations.o_year
  partial p0 DECIMAL(36,4): total of sum(CASE WHEN all_nations.nation = 'BRAZIL' THEN all_nations.volume ELSE CAST(0 AS DECIMAL(26, 4)) END)
  partial p1 DECIMAL(36,4): total of sum(all_nations.volume)
  merge
    SELECT k0, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0, CAST(SUM(p1) AS DECIMAL(36,4)) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS DECIMAL(10,0)) AS `c0`, CAST(CAST(`merged_0`.`p0` AS DECIMAL(38,18)) / `merged_0`.`p1` AS DECIMAL(38,18)) AS `c1` FROM `state_0` AS `merged_0`
pinned tables: supplier, nation, orders, customer, region, part

-- TPC-H 9
SELECT nation, o_year, sum(amount) AS sum_profit
FROM (SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year,
    l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
  FROM part, supplier, lineitem, partsupp, orders, nation
  WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
    AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit
GROUP BY nation, o_year ORDER BY nation, o_year DESC;
----
notice: ORDER BY is dropped: ask for the order when you query the view
static pipeline static_0
  SELECT `supplier`.`s_suppkey` AS `s_suppkey`, `partsupp`.`ps_partkey` AS `ps_partkey`, `nation`.`n_name` AS `n_name`, `partsupp`.`ps_supplycost` AS `ps_supplycost` FROM `part` AS `part`, `supplier` AS `supplier`, `partsupp` AS `partsupp`, `nation` AS `nation` WHERE (((`supplier`.`s_nationkey` = `nation`.`n_nationkey`) AND (`part`.`p_name` LIKE '%green%')) AND (`partsupp`.`ps_suppkey` = `supplier`.`s_suppkey`)) AND (`part`.`p_partkey` = `partsupp`.`ps_partkey`)
grouping state_0
  stream pipeline over "lineitem"
    SELECT CAST(`profit`.`nation` AS STRING) AS `k0`, CAST(`profit`.`o_year` AS DECIMAL(10,0)) AS `k1`, SUM(CAST(`profit`.`amount` AS DECIMAL(27,4))) AS `p0` FROM (SELECT `part+supplier+partsupp+nation`.`n_name` AS `nation`, CAST(YEAR(`orders`.`o_orderdate`) AS DECIMAL(10,0)) AS `o_year`, (`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`)) - (`part+supplier+partsupp+nation`.`ps_supplycost` * `lineitem`.`l_quantity`) AS `amount` FROM `static_0` AS `part+supplier+partsupp+nation`, `lineitem` AS `lineitem`, `orders` AS `orders` WHERE ((`part+supplier+partsupp+nation`.`s_suppkey` = `lineitem`.`l_suppkey`) AND (`part+supplier+partsupp+nation`.`ps_partkey` = `lineitem`.`l_partkey`)) AND (`orders`.`o_orderkey` = `lineitem`.`l_orderkey`)) AS `profit` GROUP BY `profit`.`nation`, `profit`.`o_year`
  key k0 STRING: profit.nation
  key k1 DECIMAL(10,0): profit.o_year
  partial p0 DECIMAL(37,4): total of sum(profit.amount)
  merge
    SELECT k0, k1, CAST(SUM(p0) AS DECIMAL(37,4)) AS p0 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`k1` AS DECIMAL(10,0)) AS `c1`, CAST(`merged_0`.`p0` AS DECIMAL(37,4)) AS `c2` FROM `state_0` AS `merged_0`
pinned tables: orders, part, supplier, partsupp, nation

-- TPC-H 10
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= date '1993-10-01'
  AND o_orderdate < date '1993-10-01' + interval '3 month' AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment ORDER BY revenue DESC LIMIT 20;
----
static pipeline static_0
  SELECT `customer`.`c_custkey` AS `c_custkey`, `customer`.`c_name` AS `c_name`, `customer`.`c_acctbal` AS `c_acctbal`, `customer`.`c_phone` AS `c_phone`, `nation`.`n_name` AS `n_name`, `customer`.`c_address` AS `c_address`, `customer`.`c_comment` AS `c_comment`, `orders`.`o_orderkey` AS `o_orderkey` FROM `customer` AS `customer`, `orders` AS `orders`, `nation` AS `nation` WHERE (((`customer`.`c_custkey` = `orders`.`o_custkey`) AND (`orders`.`o_orderdate` >= CAST('1993-10-01' AS DATE))) AND (`orders`.`o_orderdate` < (CAST(CAST('1993-10-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 3, 0, 0, 0, 0, 0.000000)))) AND (`customer`.`c_nationkey` = `nation`.`n_nationkey`)
grouping state_0
  stream pipeline over "lineitem"
    SELECT `customer+orders+nation`.`c_custkey` AS `k0`, `customer+orders+nation`.`c_name` AS `k1`, `customer+orders+nation`.`c_acctbal` AS `k2`, `customer+orders+nation`.`c_phone` AS `k3`, `customer+orders+nation`.`n_name` AS `k4`, `customer+orders+nation`.`c_address` AS `k5`, `customer+orders+nation`.`c_comment` AS `k6`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p0` FROM `static_0` AS `customer+orders+nation`, `lineitem` AS `lineitem` WHERE (`lineitem`.`l_orderkey` = `customer+orders+nation`.`o_orderkey`) AND (`lineitem`.`l_returnflag` = 'R') GROUP BY `customer+orders+nation`.`c_custkey`, `customer+orders+nation`.`c_name`, `customer+orders+nation`.`c_acctbal`, `customer+orders+nation`.`c_phone`, `customer+orders+nation`.`n_name`, `customer+orders+nation`.`c_address`, `customer+orders+nation`.`c_comment`
  key k0 INT: customer.c_custkey
  key k1 STRING: customer.c_name
  key k2 DECIMAL(12,2): customer.c_acctbal
  key k3 STRING: customer.c_phone
  key k4 STRING: nation.n_name
  key k5 STRING: customer.c_address
  key k6 STRING: customer.c_comment
  partial p0 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT k0, k1, k2, k3, k4, k5, k6, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0 GROUP BY k0, k1, k2, k3, k4, k5, k6
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS INT) AS `c0`, CAST(`merged_0`.`k1` AS STRING) AS `c1`, CAST(`merged_0`.`p0` AS DECIMAL(36,4)) AS `c2`, CAST(`merged_0`.`k2` AS DECIMAL(12,2)) AS `c3`, CAST(`merged_0`.`k4` AS STRING) AS `c4`, CAST(`merged_0`.`k5` AS STRING) AS `c5`, CAST(`merged_0`.`k3` AS STRING) AS `c6`, CAST(`merged_0`.`k6` AS STRING) AS `c7` FROM `state_0` AS `merged_0` ORDER BY `c2` DESC NULLS FIRST LIMIT 20
pinned tables: customer, orders, nation

-- TPC-H 11
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value FROM partsupp, supplier, nation
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY' GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * 0.0001
  FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
ORDER BY value DESC;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere

-- TPC-H 12
SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high_line_count,
  sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate AND l_receiptdate >= date '1994-01-01'
  AND l_receiptdate < date '1994-01-01' + interval '1 year'
GROUP BY l_shipmode ORDER BY l_shipmode;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_shipmode` AS `k0`, SUM(CAST(CASE WHEN (`orders`.`o_orderpriority` = '1-URGENT') OR (`orders`.`o_orderpriority` = '2-HIGH') THEN 1 ELSE 0 END AS INT)) AS `p0`, SUM(CAST(CASE WHEN (`orders`.`o_orderpriority` <> '1-URGENT') AND (`orders`.`o_orderpriority` <> '2-HIGH') THEN 1 ELSE 0 END AS INT)) AS `p1` FROM `orders` AS `orders`, `lineitem` AS `lineitem` WHERE (((((`orders`.`o_orderkey` = `lineitem`.`l_orderkey`) AND (`lineitem`.`l_shipmode` IN ('MAIL', 'SHIP'))) AND (`lineitem`.`l_commitdate` < `lineitem`.`l_receiptdate`)) AND (`lineitem`.`l_shipdate` < `lineitem`.`l_commitdate`)) AND (`lineitem`.`l_receiptdate` >= CAST('1994-01-01' AS DATE))) AND (`lineitem`.`l_receiptdate` < (CAST(CAST('1994-01-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 12, 0, 0, 0, 0, 0.000000))) GROUP BY `lineitem`.`l_shipmode`
  key k0 STRING: lineitem.l_shipmode
  partial p0 BIGINT: total of sum(CASE WHEN orders.o_orderpriority = '1-URGENT' OR orders.o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END)
  partial p1 BIGINT: total of sum(CASE WHEN orders.o_orderpriority <> '1-URGENT' AND orders.o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END)
  merge
    SELECT k0, SUM(p0) AS p0, SUM(p1) AS p1 FROM state_0 GROUP BY k0
upper pipeline
  SELECT CAST(`merged_0`.`k0` AS STRING) AS `c0`, CAST(`merged_0`.`p0` AS BIGINT) AS `c1`, CAST(`merged_0`.`p1` AS BIGINT) AS `c2` FROM `state_0` AS `merged_0`
pinned tables: orders

-- TPC-H 13
SELECT c_count, count(*) AS custdist
FROM (SELECT c_custkey, count(o_orderkey) AS c_count FROM customer
  LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
  GROUP BY c_custkey) AS c_orders
GROUP BY c_count ORDER BY custdist DESC, c_count DESC;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere

-- TPC-H 14
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
  / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE l_partkey = p_partkey AND l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-09-01' + interval '1 month';
----
grouping state_0
  stream pipeline over "lineitem"
    SELECT SUM(CAST(CASE WHEN `part`.`p_type` LIKE 'PROMO%' THEN `lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) ELSE CAST(0 AS DECIMAL(26,4)) END AS DECIMAL(26,4))) AS `p0`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p1` FROM `lineitem` AS `lineitem`, `part` AS `part` WHERE ((`lineitem`.`l_partkey` = `part`.`p_partkey`) AND (`lineitem`.`l_shipdate` >= CAST('1995-09-01' AS DATE))) AND (`lineitem`.`l_shipdate` < (CAST(CAST('1995-09-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 1, 0, 0, 0, 0, 0.000000)))
  partial p0 DECIMAL(36,4): total of sum(CASE WHEN part.p_type LIKE 'PROMO%' THEN lineitem.l_extendedprice * (1 - lineitem.l_discount) ELSE CAST(0 AS DECIMAL(26, 4)) END)
  partial p1 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT CAST(SUM(p0) AS DECIMAL(36,4)) AS p0, CAST(SUM(p1) AS DECIMAL(36,4)) AS p1 FROM state_0
upper pipeline
  SELECT CAST(CAST(CAST(100.00 * `merged_0`.`p0` AS DECIMAL(38,18)) AS DECIMAL(38,18)) / `merged_0`.`p1` AS DECIMAL(38,18)) AS `c0` FROM `state_0` AS `merged_0`
pinned tables: part

-- TPC-H 15
WITH revenue (supplier_no, total_revenue) AS (
  SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) FROM lineitem
  WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-01-01' + interval '3 month' GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue FROM supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue) ORDER BY s_suppkey;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_suppkey` AS `k0`, SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p0` FROM `lineitem` AS `lineitem` WHERE (`lineitem`.`l_shipdate` >= CAST('1996-01-01' AS DATE)) AND (`lineitem`.`l_shipdate` < (CAST(CAST('1996-01-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 3, 0, 0, 0, 0, 0.000000))) GROUP BY `lineitem`.`l_suppkey`
  key k0 INT: lineitem.l_suppkey
  partial p0 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT k0, CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0 GROUP BY k0
upper pipeline
  SELECT `supplier`.`s_suppkey` AS `c0`, `supplier`.`s_name` AS `c1`, `supplier`.`s_address` AS `c2`, `supplier`.`s_phone` AS `c3`, CAST(`revenue`.`sum` AS DECIMAL(36,4)) AS `c4` FROM `supplier` AS `supplier`, (SELECT `merged_0`.`k0` AS `l_suppkey`, `merged_0`.`p0` AS `sum` FROM `state_0` AS `merged_0`) AS `revenue` WHERE (`supplier`.`s_suppkey` = `revenue`.`l_suppkey`) AND (`revenue`.`sum` = (SELECT MAX(`revenue`.`sum`) AS `max` FROM (SELECT `merged_1`.`k0` AS `l_suppkey`, `merged_1`.`p0` AS `sum` FROM `state_0` AS `merged_1`) AS `revenue`))
live tables: supplier

-- TPC-H 16
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt FROM partsupp, part
WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%'
  AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size ORDER BY supplier_cnt DESC, p_brand, p_type, p_size;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere

-- TPC-H 17
SELECT sum(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey);
----
error 0A000: a subquery over the stream "lineitem" below the grouping of the stream "lineitem" is not supported in a continuous view
hint: Compare the groups instead: group both streams in subqueries, then join them.
at: 0.2 * avg(l_quantity) FROM lin

-- TPC-H 18
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice ORDER BY o_totalprice DESC, o_orderdate LIMIT 100;
----
error 0A000: a subquery over the stream "lineitem" below the grouping of the stream "lineitem" is not supported in a continuous view
hint: Compare the groups instead: group both streams in subqueries, then join them.
at: l_orderkey FROM lineitem GROUP

-- TPC-H 19
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
    AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG')
    AND l_shipinstruct = 'DELIVER IN PERSON')
  OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
    AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG')
    AND l_shipinstruct = 'DELIVER IN PERSON');
----
static pipeline static_0
  SELECT `part`.`p_brand` AS `p_brand`, `part`.`p_container` AS `p_container`, `part`.`p_partkey` AS `p_partkey`, `part`.`p_size` AS `p_size` FROM `part` AS `part` WHERE (((`part`.`p_brand` = 'Brand#12') AND (`part`.`p_container` IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'))) AND (`part`.`p_size` BETWEEN 1 AND 5)) OR (((`part`.`p_brand` = 'Brand#23') AND (`part`.`p_container` IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'))) AND (`part`.`p_size` BETWEEN 1 AND 10))
grouping state_0
  stream pipeline over "lineitem"
    SELECT SUM(CAST(`lineitem`.`l_extendedprice` * (CAST(1 AS DECIMAL(1,0)) - `lineitem`.`l_discount`) AS DECIMAL(26,4))) AS `p0` FROM `lineitem` AS `lineitem`, `static_0` AS `part` WHERE ((((((((`part`.`p_partkey` = `lineitem`.`l_partkey`) AND (`part`.`p_brand` = 'Brand#12')) AND (`part`.`p_container` IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'))) AND (`lineitem`.`l_quantity` >= 1)) AND (`lineitem`.`l_quantity` <= 11)) AND (`part`.`p_size` BETWEEN 1 AND 5)) AND (`lineitem`.`l_shipmode` IN ('AIR', 'AIR REG'))) AND (`lineitem`.`l_shipinstruct` = 'DELIVER IN PERSON')) OR ((((((((`part`.`p_partkey` = `lineitem`.`l_partkey`) AND (`part`.`p_brand` = 'Brand#23')) AND (`part`.`p_container` IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'))) AND (`lineitem`.`l_quantity` >= 10)) AND (`lineitem`.`l_quantity` <= 20)) AND (`part`.`p_size` BETWEEN 1 AND 10)) AND (`lineitem`.`l_shipmode` IN ('AIR', 'AIR REG'))) AND (`lineitem`.`l_shipinstruct` = 'DELIVER IN PERSON'))
  partial p0 DECIMAL(36,4): total of sum(lineitem.l_extendedprice * (1 - lineitem.l_discount))
  merge
    SELECT CAST(SUM(p0) AS DECIMAL(36,4)) AS p0 FROM state_0
upper pipeline
  SELECT CAST(`merged_0`.`p0` AS DECIMAL(36,4)) AS `c0` FROM `state_0` AS `merged_0`
pinned tables: part

-- TPC-H 20
SELECT s_name, s_address FROM supplier, nation
WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp
    WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
      AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem
        WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= date '1994-01-01'
          AND l_shipdate < date '1994-01-01' + interval '1 year'))
  AND s_nationkey = n_nationkey AND n_name = 'CANADA' ORDER BY s_name;
----
notice: ORDER BY is dropped: ask for the order when you query the view
grouping state_0
  stream pipeline over "lineitem"
    SELECT `lineitem`.`l_partkey` AS `k0`, `lineitem`.`l_suppkey` AS `k1`, SUM(SHIFTRIGHT(CAST(`lineitem`.`l_quantity` * 100 AS BIGINT), 32)) AS `p0`, SUM(CAST(`lineitem`.`l_quantity` * 100 AS BIGINT) & 4294967295) AS `p1` FROM `lineitem` AS `lineitem` WHERE (`lineitem`.`l_shipdate` >= CAST('1994-01-01' AS DATE)) AND (`lineitem`.`l_shipdate` < (CAST(CAST('1994-01-01' AS DATE) AS TIMESTAMP_NTZ) + MAKE_INTERVAL(0, 12, 0, 0, 0, 0, 0.000000))) GROUP BY `lineitem`.`l_partkey`, `lineitem`.`l_suppkey`
  key k0 INT: lineitem.l_partkey
  key k1 INT: lineitem.l_suppkey
  partial p0 BIGINT: high of sum(lineitem.l_quantity)
  partial p1 BIGINT: low of sum(lineitem.l_quantity)
  merge
    SELECT k0, k1, SUM(p0) + SHIFTRIGHT(SUM(p1), 32) AS p0, SUM(p1) & 4294967295 AS p1 FROM state_0 GROUP BY k0, k1
upper pipeline
  SELECT `supplier`.`s_name` AS `c0`, `supplier`.`s_address` AS `c1` FROM `supplier` AS `supplier`, `nation` AS `nation` WHERE ((`supplier`.`s_suppkey` IN (SELECT `partsupp`.`ps_suppkey` AS `ps_suppkey` FROM `partsupp` AS `partsupp` WHERE (`partsupp`.`ps_partkey` IN (SELECT `part`.`p_partkey` AS `p_partkey` FROM `part` AS `part` WHERE `part`.`p_name` LIKE 'forest%')) AND (`partsupp`.`ps_availqty` > (SELECT 0.5 * CAST(CAST(((CAST(SUM(`merged_0`.`p0`) + SHIFTRIGHT(SUM(`merged_0`.`p1`), 32) AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0))) + CAST(SUM(`merged_0`.`p1`) & 4294967295 AS DECIMAL(19,0))) AS DECIMAL(22,0)) * 0.01 AS DECIMAL(22,2)) AS `?column?` FROM `state_0` AS `merged_0` WHERE (`merged_0`.`k0` = `partsupp`.`ps_partkey`) AND (`merged_0`.`k1` = `partsupp`.`ps_suppkey`))))) AND (`supplier`.`s_nationkey` = `nation`.`n_nationkey`)) AND (`nation`.`n_name` = 'CANADA')
live tables: supplier, nation, partsupp, part

-- TPC-H 21
SELECT s_name, count(*) AS numwait FROM supplier, lineitem l1, orders, nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
  AND l1.l_receiptdate > l1.l_commitdate
  AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
  AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
    AND l3.l_receiptdate > l3.l_commitdate)
  AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100;
----
error 0A000: a subquery over the stream "lineitem" below the grouping of the stream "lineitem" is not supported in a continuous view
hint: Compare the groups instead: group both streams in subqueries, then join them.
at: * FROM lineitem l2 WHERE l2.l_

-- TPC-H 22
SELECT cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
FROM (SELECT substring(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal FROM customer
  WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
    AND c_acctbal > (SELECT avg(c_acctbal) FROM customer
      WHERE c_acctbal > 0.00 AND substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17'))
    AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale
GROUP BY cntrycode ORDER BY cntrycode;
----
error 42809: the query reads no stream, so there is nothing to split
at: nowhere
