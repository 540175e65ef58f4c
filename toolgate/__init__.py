"""The command line, `python -m toolgate`: contracts, calls, workspaces, local cloud, demo."""
