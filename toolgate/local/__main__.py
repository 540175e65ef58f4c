"""Runs the local cloud's commands by themselves: `python -m toolgate.local up`."""

from toolgate.local.cli import app

if __name__ == "__main__":
    app(prog_name="toolgate local")
