"""One module of assets per stage; each has factories, because the number of buckets is a setting of the deployment."""
