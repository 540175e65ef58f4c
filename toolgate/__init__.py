"""The command line, `python -m toolgate`: contracts, calls, workspaces, the local cloud, the demo."""
