"""The index over HTTP: the search interface, its description, and the search page.

Nothing is imported here, so that the command line does not pay for a server that it does not start.
"""
