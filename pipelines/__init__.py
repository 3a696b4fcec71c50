"""All computation of Strata, in plain Python: this package never imports dagster, resources or assets_defs."""
