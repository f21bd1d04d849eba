"""The only place that knows PySpark: the session, the runner, and what failures mean."""
