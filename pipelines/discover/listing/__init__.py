"""Which files of a repository are indexed. In: a folder or commit, read through git. Out: a Listing."""
