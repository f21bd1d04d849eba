-- connecting
SELECT version();

-- connecting: where am I
SELECT current_schema(), session_user;

-- connecting: the database
SELECT current_database();

-- databases
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE 1 = 1 AND datallowconn AND NOT datistemplate ORDER BY db.datname;

-- the database
-- values: ["pond"]
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = $1;

-- the database's description
-- values: ["pond"]
SELECT description FROM pg_shdescription JOIN pg_database ON objoid = pg_database.oid WHERE datname = $1;

-- sizes of databases
-- values: ["5"]
SELECT db.datname, pg_database_size(db.oid) FROM pg_catalog.pg_database db WHERE db.oid = $1;

-- settings
SELECT * FROM pg_catalog.pg_settings;

-- one setting
-- values: ["search_path"]
SELECT * FROM pg_catalog.pg_settings WHERE name = $1;

-- does a catalog have a column
SELECT typcategory FROM pg_catalog.pg_type WHERE 1 <> 1 LIMIT 1;

-- data types
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');

-- a data type by number
-- values: ["23"]
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.oid = $1;

-- enumerations
SELECT * FROM pg_catalog.pg_enum;

-- schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname;

-- roles
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a
LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid
ORDER BY a.rolname;

-- members of a role
-- values: ["10"]
SELECT * FROM pg_catalog.pg_auth_members WHERE roleid = $1;

-- privileges of a role
-- values: ["pond", "millpond"]
SELECT * FROM information_schema.table_privileges WHERE table_catalog = $1 AND grantee = $2;

-- privileges on functions
-- values: ["pond", "millpond"]
SELECT * FROM information_schema.routine_privileges WHERE specific_catalog = $1 AND grantee = $2;

-- privileges on schemas
SELECT n.oid, n.nspacl FROM pg_catalog.pg_namespace n WHERE n.nspacl IS NOT NULL;

-- access methods
SELECT am.oid, am.* FROM pg_catalog.pg_am am ORDER BY am.oid;

-- encodings
SELECT c.contoencoding AS encid, pg_catalog.pg_encoding_to_char(c.contoencoding) AS encname
FROM pg_catalog.pg_conversion c
GROUP BY c.contoencoding
ORDER BY 2;

-- collations
SELECT c.oid, c.* FROM pg_catalog.pg_collation c ORDER BY c.oid;

-- languages
SELECT l.oid, l.* FROM pg_catalog.pg_language l ORDER BY l.oid;

-- foreign data wrappers
SELECT l.oid, l.*, p.pronamespace AS handler_schema_id
FROM pg_catalog.pg_foreign_data_wrapper l
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = l.fdwhandler
ORDER BY l.fdwname;

-- foreign servers
SELECT l.oid, l.* FROM pg_catalog.pg_foreign_server l ORDER BY l.srvname;

-- tablespaces
SELECT t.oid, t.*, pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid;

-- extensions to install
SELECT name, default_version, installed_version, comment FROM pg_catalog.pg_available_extensions ORDER BY name;

-- extensions of a database
SELECT e.oid, cfg.tbls, n.nspname AS schema_name, e.*
FROM pg_catalog.pg_extension e
JOIN pg_namespace n ON n.oid = e.extnamespace
LEFT JOIN (
  SELECT ARRAY_AGG(ns.nspname || '.' || cls.relname) tbls, oid_ext
  FROM (SELECT unnest(e1.extconfig) oid, e1.oid oid_ext FROM pg_catalog.pg_extension e1) c
  JOIN pg_class cls ON cls.oid = c.oid
  JOIN pg_namespace ns ON ns.oid = cls.relnamespace
  GROUP BY oid_ext
) cfg ON cfg.oid_ext = e.oid
ORDER BY e.oid;

-- event triggers
SELECT pet.*, d.description FROM pg_catalog.pg_event_trigger pet
LEFT OUTER JOIN pg_catalog.pg_description d ON pet."oid" = d.objoid;

-- relations of a schema
-- values: ["2200"]
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c');

-- inheritance
-- values: ["2200"]
SELECT i.inhrelid relid, pc.relnamespace parent_ns, pc.oid parent_oid, i.inhseqno
FROM pg_catalog.pg_inherits i, pg_class rc, pg_class pc
WHERE rc.oid = i.inhrelid AND rc.relnamespace = $1 AND pc.oid = i.inhparent;

-- columns of a schema
-- values: ["2200"]
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.relnamespace = $1
ORDER BY a.attnum;

-- constraints of a schema
-- values: ["2200"]
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description,
  CASE WHEN c.contype = 'c' THEN "substring"(pg_get_constraintdef(c.oid), 7) ELSE NULL END consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE t.relnamespace = $1
ORDER BY c.oid;

-- indexes of a table
-- values: ["16384"]
SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr,
  pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size, pg_catalog.pg_stat_get_numscans(i.indexrelid) AS index_num_scans
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
WHERE i.indrelid = $1 ORDER BY c.relname;

-- functions of a schema
-- values: ["2200"]
SELECT p.oid AS poid, p.*, pg_catalog.pg_get_expr(p.proargdefaults, 0) AS arg_defaults, d.description
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass AND d.objsubid = 0
WHERE p.pronamespace = $1
ORDER BY p.proname;

-- aggregates of a schema
-- values: ["2200"]
SELECT p.oid AS proc_oid, p.proname AS proc_name, a.*
FROM pg_catalog.pg_aggregate a, pg_catalog.pg_proc p
WHERE p.oid = a.aggfnoid AND p.pronamespace = $1
ORDER BY p.proname;

-- default privileges
-- values: ["2200"]
SELECT * FROM pg_default_acl WHERE defaclnamespace = $1;

-- sizes of relations
-- values: ["2200"]
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) AS total_rel_size, pg_catalog.pg_relation_size(c.oid) AS rel_size
FROM pg_class c
WHERE c.relnamespace = $1;

-- a stream's options
-- values: ["16385"]
SELECT * FROM pg_catalog.pg_foreign_table WHERE ftrelid = $1;

-- a view's definition
SELECT pg_get_viewdef(16387, true);

-- triggers of a table
-- values: ["16384"]
SELECT x.oid, x.*, p.pronamespace AS func_schema_id, d.description
FROM pg_catalog.pg_trigger x
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = x.tgfoid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = x.oid AND d.objsubid = 0
WHERE x.tgrelid = $1;

-- rules of a table
SELECT r.oid, r.*, pg_get_ruledef(r.oid) AS definition FROM pg_rewrite r
WHERE r.ev_class = 16384 AND r.rulename <> '_RETURN'::name;

-- sessions
SELECT sa.* FROM pg_catalog.pg_stat_activity sa;
