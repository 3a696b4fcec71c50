"""What a file defines, calls and imports. In: bytes. Out: rows; parser processes share nothing."""
