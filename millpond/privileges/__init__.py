"""Who may do what: access lists, what a role may do by one state of the catalog, and what each statement needs."""
