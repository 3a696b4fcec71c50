"""How people reach it: published generations, checks, the command line."""
