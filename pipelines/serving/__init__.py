"""How people reach it: published generations, checks, the command line.

Nothing is imported here, so that `strata query` does not pay for the rooms that it never enters.
"""
