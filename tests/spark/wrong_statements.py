"""Statements that are wrong: PostgreSQL says what is wrong with them, and Millpond must say the same.

They run against `station` and `usage` of `SCHEMA`.
"""

from __future__ import annotations

SCHEMA = (
    "CREATE TABLE station (id int PRIMARY KEY, plant text, since date, seen timestamp, zone timestamptz)",
    "CREATE TABLE usage (id int, station int, part varchar(8), amount numeric(10,2), weight float8, ok boolean,"
    " code char(3), raw bytea)",
    "INSERT INTO station VALUES (1, 'Ulm', '2024-01-01', '2024-01-01 10:00', '2024-01-01 10:00+00')",
    "INSERT INTO usage VALUES (1, 1, 'wheel', 1.50, 0.5, true, 'abc', '\\x01'),"
    " (2, 1, 'seat', 2.25, 2.5, false, 'x', NULL)",
)

SYNTAX = """
SELEC 1
SELECT FROM WHERE
SELECT * FROM
SELECT * FROM station WHERE
SELECT 1 +
SELECT (1
SELECT 1)
SELECT * FROM station GROUP
SELECT * FROM station ORDER plant
SELECT * FROM station LIMIT
SELECT a b c FROM station
SELECT * station
SELECT 'abc
SELECT "abc
SELECT 'it''s' || E'\\'
SELECT 1 /* and
SELECT $$abc
SELECT $a$abc$$
SELECT 1 2
SELECT CASE WHEN true THEN 1
SELECT CAST(1 integer)
SELECT * FROM station JOIN usage
SELECT * FROM (SELECT 1
SELECT * FROM station WHERE id IN ()
SELECT * FROM station WHERE id BETWEEN 1
SELECT count(* FROM station
INSERT INTO station VALUES
INSERT station VALUES (1)
INSERT station SELECT 1
UPDATE station plant = 'x'
DELETE station
CREATE TABLE
CREATE TABLE x (a)
DROP station
FROM station
SELECT * FROM station WHERE AND id = 1
SELECT id, FROM station
SELECT DISTINCT ON id FROM station
VALUES (1), (2, 3)
SELECT 1 UNION
WITH x SELECT 1
SELECT sum(id) OVER FROM usage
SELECT EXTRACT(year, since) FROM station
SELECT id FROM station HAVING
SELECT * FROM station AS
"""

NAMES = """
SELECT * FROM nowhere
SELECT * FROM statoin
SELECT * FROM other.station
SELECT nothing FROM station
SELECT station.nothing FROM station
SELECT s.nothing FROM station s
SELECT station.id FROM station s
SELECT x.id FROM station
SELECT x.* FROM station
SELECT id FROM station, usage
SELECT id FROM station s JOIN usage u ON s.id = u.station
SELECT * FROM station, station
SELECT * FROM station a JOIN usage a ON true
SELECT * FROM station JOIN usage USING (plant)
SELECT * FROM station JOIN usage USING (nothing)
SELECT * FROM station JOIN usage ON nothing = 1
SELECT * FROM station s, (SELECT s.id) x
SELECT plant FROM station ORDER BY nothing
SELECT plant FROM station GROUP BY nothing
SELECT plant AS p FROM station WHERE p = 'x'
SELECT id AS a, station AS a FROM usage ORDER BY a
SELECT nofunction(1)
SELECT nofunction(id, plant) FROM station
SELECT upper(1)
SELECT upper('a', 'b')
SELECT length()
SELECT sum(plant) FROM station
SELECT avg(since) FROM station
SELECT max(ok) FROM usage
SELECT count(id, plant) FROM station
SELECT date_trunc('day', 1)
SELECT round(1.5::float8, 1)
SELECT substring(1, 2)
SELECT x FROM (VALUES (1)) v(y)
SELECT * FROM (VALUES (1)) v(x, y)
SELECT 1::nothing
SELECT CAST(1 AS nothing)
SELECT row_number() OVER w FROM usage
SELECT "ID" FROM station
SELECT "Station".id FROM station
WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x
WITH x(a, b) AS (SELECT 1) SELECT * FROM x
SELECT * FROM x
SELECT $1
INSERT INTO nowhere VALUES (1)
INSERT INTO station (nothing) VALUES (1)
INSERT INTO station (id, id) VALUES (1, 2)
INSERT INTO station VALUES (1, 'a', NULL, NULL, NULL, 6)
INSERT INTO station (id, plant) VALUES (1)
UPDATE nowhere SET a = 1
UPDATE station SET nothing = 1
UPDATE station SET id = 1, id = 2
DELETE FROM nowhere
DELETE FROM station WHERE nothing = 1
DROP TABLE nowhere
DROP VIEW nowhere
CREATE TABLE station (a int)
CREATE TABLE x (a int, a int)
CREATE TABLE x (a nothing)
CREATE VIEW x AS SELECT nothing FROM station
ALTER TABLE nowhere ADD COLUMN a int
ALTER TABLE station ADD COLUMN plant text
ALTER TABLE station DROP COLUMN nothing
TRUNCATE nowhere
"""

TYPES = """
SELECT 1 + true
SELECT 1 + 'a'::text
SELECT 'a' + 'b'
SELECT plant + 1 FROM station
SELECT id + since::timestamp FROM station
SELECT since + since FROM station
SELECT since * 2 FROM station
SELECT ok + ok FROM usage
SELECT -plant FROM station
SELECT -ok FROM usage
SELECT NOT id FROM station
SELECT id AND ok FROM usage
SELECT ok OR 1 FROM usage
SELECT * FROM station WHERE id
SELECT * FROM station WHERE plant
SELECT * FROM station WHERE 'x'
SELECT id = plant FROM station
SELECT id = ok FROM usage
SELECT since = id FROM station
SELECT id < plant FROM station
SELECT id LIKE 'a' FROM station
SELECT plant ~ 1 FROM station
SELECT id || id FROM station
SELECT id IN ('a', 'b') FROM station
SELECT plant IN (1, 2) FROM station
SELECT id BETWEEN 'a' AND 'b' FROM station
SELECT id IS TRUE FROM station
SELECT CASE WHEN 1 THEN 2 END
SELECT CASE WHEN true THEN 1 ELSE 'a' END
SELECT CASE WHEN true THEN 1 ELSE since END FROM station
SELECT CASE id WHEN 'a' THEN 1 END FROM station
SELECT COALESCE(1, 'a')
SELECT COALESCE(id, plant) FROM station
SELECT GREATEST(1, plant) FROM station
SELECT NULLIF(id, plant) FROM station
SELECT 1 UNION SELECT 'a'
SELECT id FROM station UNION SELECT plant FROM station
SELECT 1, 2 UNION SELECT 1
SELECT 1 EXCEPT SELECT 1, 2
SELECT (SELECT 1, 2)
SELECT 1 IN (SELECT 1, 2)
SELECT (1, 2) IN (SELECT 1)
SELECT (1, 2) = (1, 2, 3)
SELECT 1 = ANY (SELECT 'a'::text)
SELECT * FROM (VALUES (1), ('a')) v
SELECT * FROM (VALUES (1), (true)) v
SELECT * FROM station s JOIN usage u ON s.id
SELECT * FROM station s JOIN usage u USING (id) WHERE id = 'x'
SELECT * FROM station LIMIT 'a'
SELECT * FROM station LIMIT -1
SELECT * FROM station OFFSET -1
SELECT * FROM station LIMIT id
SELECT EXTRACT(year FROM 1)
SELECT EXTRACT(nothing FROM since) FROM station
SELECT EXTRACT(hour FROM since) FROM station
SELECT since::int FROM station
SELECT id::date FROM station
SELECT ok::date FROM usage
SELECT ok::numeric FROM usage
SELECT 1::interval
SELECT 1.5::boolean
SELECT id & plant FROM station
SELECT amount % 1.5::float8 FROM usage
SELECT 1 << 2::bigint
SELECT plant[1] FROM station
INSERT INTO station (id) VALUES (true)
INSERT INTO station (id) SELECT plant FROM station
INSERT INTO station (since) SELECT id FROM station
UPDATE station SET id = plant
UPDATE station SET since = 1
UPDATE station SET id = true
DELETE FROM station WHERE id
CREATE TABLE x (a int DEFAULT 'b')
CREATE TABLE x (a varchar(0))
CREATE TABLE x (a numeric(0))
CREATE TABLE x (a int CHECK (a))
"""

GROUPING = """
SELECT plant, count(*) FROM station
SELECT id, plant, count(*) FROM usage JOIN station USING (id) GROUP BY usage.id
SELECT part FROM usage GROUP BY station
SELECT part, sum(id) FROM usage GROUP BY station
SELECT station + 1 FROM usage GROUP BY id
SELECT * FROM usage GROUP BY id
SELECT station FROM usage HAVING count(*) > 1
SELECT count(*) FROM usage HAVING part = 'a'
SELECT station, count(*) FROM usage GROUP BY station ORDER BY part
SELECT station FROM usage WHERE count(*) > 1
SELECT station FROM usage GROUP BY count(*)
SELECT station, count(*) FROM usage GROUP BY 2
SELECT station FROM usage GROUP BY 3
SELECT station FROM usage ORDER BY 3
SELECT station FROM usage GROUP BY 'a'
SELECT station FROM usage ORDER BY 'a'
SELECT sum(count(*)) FROM usage
SELECT sum(max(id)) FROM usage GROUP BY station
SELECT * FROM usage u JOIN station s ON count(*) > 1
SELECT count(*) FILTER (WHERE id) FROM usage
SELECT count(*) FILTER (WHERE count(*) > 1) FROM usage
SELECT upper(part) FILTER (WHERE true) FROM usage
SELECT upper(DISTINCT part) FROM usage
SELECT string_agg(part) FROM usage
SELECT string_agg(DISTINCT part, ',' ORDER BY id) FROM usage
SELECT sum(*) FROM usage
SELECT DISTINCT part FROM usage ORDER BY id
SELECT DISTINCT ON (part) part FROM usage ORDER BY id
SELECT (SELECT usage.part) FROM usage GROUP BY station
SELECT GROUPING(part) FROM usage GROUP BY station
SELECT percentile_cont(0.5) FROM usage
SELECT sum(id) WITHIN GROUP (ORDER BY id) FROM usage
SELECT part FROM usage UNION SELECT plant FROM station ORDER BY id
SELECT part FROM usage UNION SELECT plant FROM station ORDER BY upper(part)
UPDATE station SET id = count(*)
UPDATE station SET plant = upper(max(plant))
UPDATE station SET id = 1 + row_number() OVER ()
SELECT array_agg(id, plant) FROM station
SELECT (array_agg(id ORDER BY id))['x'] FROM station
SELECT array_agg(id ORDER BY plant) OVER () FROM station
SELECT array_agg(DISTINCT id ORDER BY plant) FROM station
SELECT ARRAY[1, true]
SELECT ARRAY[1, 'x']
SELECT array_length(id, 1) FROM station
SELECT cardinality(plant) FROM station
SELECT plant, count(*) FROM station GROUP BY ROLLUP (id)
DELETE FROM station WHERE count(*) > 1
"""

WINDOWS = """
SELECT row_number() FROM usage
SELECT rank() FROM usage
SELECT lag(id) FROM usage
SELECT upper(part) OVER () FROM usage
SELECT id FROM usage WHERE row_number() OVER () = 1
SELECT id FROM usage GROUP BY id, row_number() OVER ()
SELECT id FROM usage GROUP BY id HAVING row_number() OVER () = 1
SELECT sum(row_number() OVER ()) FROM usage
SELECT sum(sum(id) OVER ()) OVER () FROM usage
SELECT sum(id) OVER (PARTITION BY nothing) FROM usage
SELECT sum(id) OVER (ORDER BY nothing) FROM usage
SELECT sum(id) OVER (nothing) FROM usage
SELECT sum(id) OVER nothing FROM usage
SELECT sum(id) OVER (w PARTITION BY id) FROM usage WINDOW w AS (PARTITION BY station)
SELECT sum(id) OVER w FROM usage WINDOW w AS (), w AS ()
SELECT sum(id) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM usage
SELECT sum(id) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM usage
SELECT sum(id) OVER (ROWS BETWEEN id PRECEDING AND CURRENT ROW) FROM usage
SELECT sum(id) OVER (ROWS -1 PRECEDING) FROM usage
SELECT sum(id) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM usage
SELECT sum(id) OVER (ORDER BY part RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM usage
SELECT ntile('a') OVER () FROM usage
SELECT lag(id, 'a') OVER (ORDER BY id) FROM usage
SELECT lag(id, 1, 'a') OVER (ORDER BY id) FROM usage
SELECT first_value() OVER () FROM usage
SELECT row_number(1) OVER () FROM usage
SELECT count(DISTINCT nothing) OVER () FROM usage
SELECT station, sum(id) OVER () FROM usage GROUP BY station
"""

VALUES = """
SELECT 'abc'::int
SELECT '1.5'::int
SELECT ''::int
SELECT '99999999999'::int
SELECT '99999'::smallint
SELECT 'abc'::numeric
SELECT 'abc'::float8
SELECT '1e400'::float8
SELECT 'maybe'::boolean
SELECT 'abc'::date
SELECT '2024-13-01'::date
SELECT '2024-02-30'::date
SELECT '2024-01-01 25:00'::timestamp
SELECT 'abc'::timestamp
SELECT 'abc'::timestamptz
SELECT '2024-01-01 10:00 Nowhere/Town'::timestamptz
SELECT 'abc'::interval
SELECT '1 fortnight'::interval
SELECT '\\xzz'::bytea
SELECT date 'abc'
SELECT interval 'abc'
SELECT plant::int FROM station
SELECT plant::date FROM station
SELECT plant::boolean FROM station
SELECT plant::numeric FROM station
SELECT plant::float8 FROM station
SELECT plant::timestamp FROM station
SELECT id = 'abc' FROM station
SELECT since > 'abc' FROM station
SELECT 1 / 0
SELECT 1.5 / 0
SELECT 1 % 0
SELECT id / 0 FROM usage
SELECT amount / 0 FROM usage
SELECT weight / 0 FROM usage
SELECT mod(id, 0) FROM usage
SELECT id + 2147483647 FROM usage
SELECT id * 9223372036854775807 FROM usage
SELECT abs(-2147483648)
SELECT 40000::smallint
SELECT 3000000000::int
SELECT (id * 3000000000)::int FROM usage
SELECT 1e10::int
SELECT 'NaN'::float8::int
SELECT 1e30::float8::bigint
SELECT 1234.5::numeric(4,2)
SELECT (id * 1000)::numeric(3,1) FROM usage
SELECT sqrt(-1)
SELECT ln(0)
SELECT ln(-1)
SELECT log(0)
SELECT power(0, -1)
SELECT power(-1, 0.5)
SELECT power(-1::float8, 0.5::float8)
SELECT exp(1000::float8)
SELECT asin(2)
SELECT chr(0)
SELECT chr(-1)
SELECT substring('abc', 1, -1)
SELECT split_part('a', ',', 0)
SELECT 'abc' ~ '('
SELECT 'abc' LIKE 'a\\'
SELECT encode('a', 'nothing')
SELECT decode('zz', 'hex')
SELECT decode('a', 'hex')
SELECT date_trunc('nothing', seen) FROM station
SELECT date_part('nothing', seen) FROM station
SELECT make_date(2024, 13, 1)
SELECT make_timestamp(2024, 1, 1, 25, 0, 0)
SELECT to_date('abc', 'YYYY-MM-DD')
SELECT seen AT TIME ZONE 'Nowhere/Town' FROM station
SELECT width_bucket(1, 1, 1, 5)
SELECT width_bucket(1, 0, 1, 0)
SELECT ntile(0) OVER (ORDER BY id) FROM usage
SELECT nth_value(id, 0) OVER (ORDER BY id) FROM usage
SELECT percentile_cont(2) WITHIN GROUP (ORDER BY id) FROM usage
SELECT * FROM generate_series(1, 2, 0)
SELECT (SELECT id FROM usage)
SELECT * FROM station WHERE id = (SELECT id FROM usage)
SELECT factorial(-1)
INSERT INTO station (id) VALUES ('abc')
INSERT INTO station (id, since) VALUES (3, 'abc')
INSERT INTO usage (part) VALUES ('much too long')
INSERT INTO usage (amount) VALUES (1e10)
INSERT INTO usage (id) VALUES (3000000000)
INSERT INTO station (id) VALUES (NULL)
INSERT INTO station (id) VALUES (1)
UPDATE usage SET id = id / 0
UPDATE usage SET part = 'much too long'
"""


def statements() -> tuple[str, ...]:
    """All of them."""
    texts = (SYNTAX, NAMES, TYPES, GROUPING, WINDOWS, VALUES)
    return tuple(line for text in texts for line in text.strip().splitlines())
