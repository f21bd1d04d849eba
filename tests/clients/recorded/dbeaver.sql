-- databases
-- columns: oid oid, oid oid, datname name, datdba oid, encoding integer, datlocprovider "char", datistemplate boolean, datallowconn boolean, datconnlimit integer, datfrozenxid text, datminmxid text, dattablespace oid, datcollate text, datctype text, daticulocale text, daticurules text, datcollversion text, datacl text[]
-- rows: 1
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE 1 = 1 AND datallowconn AND NOT datistemplate ORDER BY db.datname;

-- the database
-- values: ["pond"]
-- columns: oid oid, oid oid, datname name, datdba oid, encoding integer, datlocprovider "char", datistemplate boolean, datallowconn boolean, datconnlimit integer, datfrozenxid text, datminmxid text, dattablespace oid, datcollate text, datctype text, daticulocale text, daticurules text, datcollversion text, datacl text[]
-- rows: 1
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = $1;

-- the database's description
-- values: ["pond"]
-- columns: description text
-- rows: 0
SELECT description FROM pg_shdescription JOIN pg_database ON objoid = pg_database.oid WHERE datname = $1;

-- sizes of databases
-- values: ["5"]
-- columns: datname name, pg_database_size bigint
-- rows: 1
SELECT db.datname, pg_database_size(db.oid) FROM pg_catalog.pg_database db WHERE db.oid = $1;

-- settings
-- columns: name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text, sourceline integer, pending_restart boolean
-- rows: some
SELECT * FROM pg_catalog.pg_settings;

-- one setting
-- values: ["search_path"]
-- columns: name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text, sourceline integer, pending_restart boolean
-- rows: some
SELECT * FROM pg_catalog.pg_settings WHERE name = $1;

-- does a catalog have a column
-- columns: typcategory "char"
-- rows: 0
SELECT typcategory FROM pg_catalog.pg_type WHERE 1 <> 1 LIMIT 1;

-- data types
-- columns: oid oid, oid oid, typname name, typnamespace oid, typowner oid, typlen smallint, typbyval boolean, typtype "char", typcategory "char", typispreferred boolean, typisdefined boolean, typdelim "char", typrelid oid, typsubscript text, typelem oid, typarray oid, typinput text, typoutput text, typreceive text, typsend text, typmodin text, typmodout text, typanalyze text, typalign "char", typstorage "char", typnotnull boolean, typbasetype oid, typtypmod integer, typndims integer, typcollation oid, typdefaultbin text, typdefault text, typacl text[], relkind "char", base_type_name text, description text
-- rows: 78
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');

-- a data type by number
-- values: ["23"]
-- columns: oid oid, oid oid, typname name, typnamespace oid, typowner oid, typlen smallint, typbyval boolean, typtype "char", typcategory "char", typispreferred boolean, typisdefined boolean, typdelim "char", typrelid oid, typsubscript text, typelem oid, typarray oid, typinput text, typoutput text, typreceive text, typsend text, typmodin text, typmodout text, typanalyze text, typalign "char", typstorage "char", typnotnull boolean, typbasetype oid, typtypmod integer, typndims integer, typcollation oid, typdefaultbin text, typdefault text, typacl text[], relkind "char", base_type_name text
-- rows: 1
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.oid = $1;

-- enumerations
-- columns: oid oid, enumtypid oid, enumsortorder real, enumlabel name
-- rows: 0
SELECT * FROM pg_catalog.pg_enum;

-- schemas
-- columns: oid oid, oid oid, nspname name, nspowner oid, nspacl text[], description text
-- rows: 3
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname;

-- roles
-- columns: oid oid, rolname name, rolsuper boolean, rolinherit boolean, rolcreaterole boolean, rolcreatedb boolean, rolcanlogin boolean, rolreplication boolean, rolconnlimit integer, rolpassword text, rolvaliduntil timestamp with time zone, rolbypassrls boolean, rolconfig text[], oid oid, description text
-- rows: 3
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a
LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid
ORDER BY a.rolname;

-- members of a role
-- values: ["10"]
-- columns: oid oid, roleid oid, member oid, grantor oid, admin_option boolean, inherit_option boolean, set_option boolean
-- rows: 0
SELECT * FROM pg_catalog.pg_auth_members WHERE roleid = $1;

-- privileges of a role
-- values: ["pond", "millpond"]
-- columns: grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type character varying, is_grantable character varying, with_hierarchy character varying
-- rows: 20
SELECT * FROM information_schema.table_privileges WHERE table_catalog = $1 AND grantee = $2;

-- privileges on functions
-- values: ["pond", "millpond"]
-- columns: grantor name, grantee name, specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name, privilege_type character varying, is_grantable character varying
-- rows: 0
SELECT * FROM information_schema.routine_privileges WHERE specific_catalog = $1 AND grantee = $2;

-- privileges on schemas
-- columns: oid oid, nspacl text[]
-- rows: 0
SELECT n.oid, n.nspacl FROM pg_catalog.pg_namespace n WHERE n.nspacl IS NOT NULL;

-- access methods
-- columns: oid oid, oid oid, amname name, amhandler text, amtype "char"
-- rows: 2
SELECT am.oid, am.* FROM pg_catalog.pg_am am ORDER BY am.oid;

-- encodings
-- columns: encid integer, encname name
-- rows: 0
SELECT c.contoencoding AS encid, pg_catalog.pg_encoding_to_char(c.contoencoding) AS encname
FROM pg_catalog.pg_conversion c
GROUP BY c.contoencoding
ORDER BY 2;

-- collations
-- columns: oid oid, oid oid, collname name, collnamespace oid, collowner oid, collprovider "char", collisdeterministic boolean, collencoding integer, collcollate text, collctype text, colliculocale text, collicurules text, collversion text
-- rows: 2
SELECT c.oid, c.* FROM pg_catalog.pg_collation c ORDER BY c.oid;

-- languages
-- columns: oid oid, oid oid, lanname name, lanowner oid, lanispl boolean, lanpltrusted boolean, lanplcallfoid oid, laninline oid, lanvalidator oid, lanacl text[]
-- rows: 3
SELECT l.oid, l.* FROM pg_catalog.pg_language l ORDER BY l.oid;

-- foreign data wrappers
-- columns: oid oid, oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl text[], fdwoptions text[], handler_schema_id oid
-- rows: some
SELECT l.oid, l.*, p.pronamespace AS handler_schema_id
FROM pg_catalog.pg_foreign_data_wrapper l
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = l.fdwhandler
ORDER BY l.fdwname;

-- foreign servers
-- columns: oid oid, oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl text[], srvoptions text[]
-- rows: 1
SELECT l.oid, l.* FROM pg_catalog.pg_foreign_server l ORDER BY l.srvname;

-- tablespaces
-- columns: oid oid, oid oid, spcname name, spcowner oid, spcacl text[], spcoptions text[], loc text
-- rows: 2
SELECT t.oid, t.*, pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid;

-- extensions to install
-- columns: name name, default_version text, installed_version text, comment text
-- rows: 0
SELECT name, default_version, installed_version, comment FROM pg_catalog.pg_available_extensions ORDER BY name;

-- extensions of a database
-- columns: oid oid, tbls text[], schema_name name, oid oid, extname name, extowner oid, extnamespace oid, extrelocatable boolean, extversion text, extconfig oid[], extcondition text[]
-- rows: 0
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
-- columns: oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled "char", evttags text[], description text
-- rows: 0
SELECT pet.*, d.description FROM pg_catalog.pg_event_trigger pet
LEFT OUTER JOIN pg_catalog.pg_description d ON pet."oid" = d.objoid;

-- relations of a schema
-- values: ["2200"]
-- columns: oid oid, oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, relfilenode oid, reltablespace oid, relpages integer, reltuples real, relallvisible integer, reltoastrelid oid, relhasindex boolean, relisshared boolean, relpersistence "char", relkind "char", relnatts smallint, relchecks smallint, relhasrules boolean, relhastriggers boolean, relhassubclass boolean, relrowsecurity boolean, relforcerowsecurity boolean, relispopulated boolean, relreplident "char", relispartition boolean, relrewrite oid, relfrozenxid text, relminmxid text, relacl text[], reloptions text[], relpartbound text, description text, partition_expr text, partition_key text
-- rows: 4
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c');

-- inheritance
-- values: ["2200"]
-- columns: relid oid, parent_ns oid, parent_oid oid, inhseqno integer
-- rows: 0
SELECT i.inhrelid relid, pc.relnamespace parent_ns, pc.oid parent_oid, i.inhseqno
FROM pg_catalog.pg_inherits i, pg_class rc, pg_class pc
WHERE rc.oid = i.inhrelid AND rc.relnamespace = $1 AND pc.oid = i.inhparent;

-- columns of a schema
-- values: ["2200"]
-- columns: relname name, attrelid oid, attname name, atttypid oid, attlen smallint, attnum smallint, attndims smallint, attcacheoff integer, atttypmod integer, attbyval boolean, attalign "char", attstorage "char", attcompression "char", attnotnull boolean, atthasdef boolean, atthasmissing boolean, attidentity "char", attgenerated "char", attisdropped boolean, attislocal boolean, attinhcount smallint, attstattarget smallint, attcollation oid, attacl text[], attoptions text[], attfdwoptions text[], attmissingval text, def_value text, description text, objid oid
-- rows: 13
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
-- columns: oid oid, oid oid, conname name, connamespace oid, contype "char", condeferrable boolean, condeferred boolean, convalidated boolean, conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid, confupdtype "char", confdeltype "char", confmatchtype "char", conislocal boolean, coninhcount smallint, connoinherit boolean, conkey smallint[], confkey smallint[], conpfeqop oid[], conppeqop oid[], conffeqop oid[], confdelsetcols smallint[], conexclop oid[], conbin text, tabrelname name, refnamespace oid, description text, consrc_copy text
-- rows: 3
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
-- columns: indexrelid oid, indrelid oid, indnatts smallint, indnkeyatts smallint, indisunique boolean, indnullsnotdistinct boolean, indisprimary boolean, indisexclusion boolean, indimmediate boolean, indisclustered boolean, indisvalid boolean, indcheckxmin boolean, indisready boolean, indislive boolean, indisreplident boolean, indkey int2vector, indcollation oidvector, indclass oidvector, indoption int2vector, indexprs text, indpred text, keys int2vector, relname name, relnamespace oid, relam oid, reltablespace oid, tabrelname name, description text, pred_expr text, expr text, index_rel_size bigint, index_num_scans bigint
-- rows: 2
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
-- columns: poid oid, oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost real, prorows real, provariadic oid, prosupport text, prokind "char", prosecdef boolean, proleakproof boolean, proisstrict boolean, proretset boolean, provolatile "char", proparallel "char", pronargs smallint, pronargdefaults smallint, prorettype oid, proargtypes oidvector, proallargtypes oid[], proargmodes "char"[], proargnames text[], proargdefaults text, protrftypes oid[], prosrc text, probin text, prosqlbody text, proconfig text[], proacl text[], arg_defaults text, description text
-- rows: 0
SELECT p.oid AS poid, p.*, pg_catalog.pg_get_expr(p.proargdefaults, 0) AS arg_defaults, d.description
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass AND d.objsubid = 0
WHERE p.pronamespace = $1
ORDER BY p.proname;

-- aggregates of a schema
-- values: ["2200"]
-- columns: proc_oid oid, proc_name name, aggfnoid text, aggkind "char", aggnumdirectargs smallint, aggtransfn text, aggfinalfn text, aggcombinefn text, aggserialfn text, aggdeserialfn text, aggmtransfn text, aggminvtransfn text, aggmfinalfn text, aggfinalextra boolean, aggmfinalextra boolean, aggfinalmodify "char", aggmfinalmodify "char", aggsortop oid, aggtranstype oid, aggtransspace integer, aggmtranstype oid, aggmtransspace integer, agginitval text, aggminitval text
-- rows: 0
SELECT p.oid AS proc_oid, p.proname AS proc_name, a.*
FROM pg_catalog.pg_aggregate a, pg_catalog.pg_proc p
WHERE p.oid = a.aggfnoid AND p.pronamespace = $1
ORDER BY p.proname;

-- default privileges
-- values: ["2200"]
-- columns: oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype "char", defaclacl text[]
-- rows: 0
SELECT * FROM pg_default_acl WHERE defaclnamespace = $1;

-- sizes of relations
-- values: ["2200"]
-- columns: oid oid, total_rel_size bigint, rel_size bigint
-- rows: 6
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) AS total_rel_size, pg_catalog.pg_relation_size(c.oid) AS rel_size
FROM pg_class c
WHERE c.relnamespace = $1;

-- a stream's options
-- values: ["16385"]
-- columns: ftrelid oid, ftserver oid, ftoptions text[]
-- rows: 1
SELECT * FROM pg_catalog.pg_foreign_table WHERE ftrelid = $1;

-- a view's definition
-- columns: pg_get_viewdef text
-- rows: 1
SELECT pg_get_viewdef(16387, true);

-- triggers of a table
-- values: ["16384"]
-- columns: oid oid, oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype smallint, tgenabled "char", tgisinternal boolean, tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable boolean, tginitdeferred boolean, tgnargs smallint, tgattr int2vector, tgargs bytea, tgqual text, tgoldtable name, tgnewtable name, func_schema_id oid, description text
-- rows: 0
SELECT x.oid, x.*, p.pronamespace AS func_schema_id, d.description
FROM pg_catalog.pg_trigger x
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = x.tgfoid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = x.oid AND d.objsubid = 0
WHERE x.tgrelid = $1;

-- rules of a table
-- columns: oid oid, oid oid, rulename name, ev_class oid, ev_type "char", ev_enabled "char", is_instead boolean, ev_qual text, ev_action text, definition text
-- rows: 0
SELECT r.oid, r.*, pg_get_ruledef(r.oid) AS definition FROM pg_rewrite r
WHERE r.ev_class = 16384 AND r.rulename <> '_RETURN'::name;

-- sessions
-- columns: datid oid, datname name, pid integer, leader_pid integer, usesysid oid, usename name, application_name text, client_addr text, client_hostname text, client_port integer, backend_start timestamp with time zone, xact_start timestamp with time zone, query_start timestamp with time zone, state_change timestamp with time zone, wait_event_type text, wait_event text, state text, backend_xid text, backend_xmin text, query_id bigint, query text, backend_type text
-- rows: 1
SELECT sa.* FROM pg_catalog.pg_stat_activity sa;
