"""The Dagster face: thin assets, checks, jobs, schedules, sensors. Importing this package imports no dagster."""
