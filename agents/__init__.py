"""The caller's side of a contract: how an agent, a test or a person calls a tool.

events          the events that each surface sends, and the answer inside what comes back
targets         where a call goes: a deployed Lambda, or a handler in this process
mcp_calls       what an MCP server sends for a call, and what it answers
mcp_server      an MCP server of the tools, over stdio or HTTP; needs the SDK, an extra
bedrock_local   plays a Bedrock agent: action groups from the template, exact events
"""
