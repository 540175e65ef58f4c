"""What a tool does: one folder a tool, one handler a version, and the runtime they share.

A handler is `functions.<tool>.v<N>:handler(event, context)`. A folder with a leading underscore is
not a tool: `_runtime` holds what every tool shares.
"""
