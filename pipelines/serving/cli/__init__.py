"""The command line: parse, ask the host, render."""
