"""Parser processes. In: files with their bytes. Out: their rows, whatever a file does to its parser."""
