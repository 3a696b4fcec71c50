"""The asset checks, one for each check of pipelines.serving.checks."""
