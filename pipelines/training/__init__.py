"""Where the bundled encoder data comes from. In: downloaded packages. Out: the files of data/encoder."""
