"""SQL text: parsed, bound against the catalog, translated to Spark SQL."""
