"""What the assets need from outside: repositories, store, encoder. The only reader of the environment.

Nothing is imported here, so that `strata --help` loads neither Arrow nor a parser. `environment` and `deployment` say
where things are, `workspace` opens them, `dagster_workspace` is the workspace's Dagster face.
"""
