"""The caller's side of a contract: how an agent, a test or a person calls a tool.

events          the events that each surface sends, and the answer inside what comes back
targets         where a call goes: a deployed Lambda, or a handler in this process
attempts        one sending whose every end is an answer, for what must answer a model
mcp_calls       what an MCP server sends for a call, and what it answers
mcp_server      an MCP server of the tools, over stdio or HTTP; needs the SDK, an extra
retries         the one retry policy: which failures are repeated, after what wait, until when
loop            works a session through: retries, hands errors to the model, stops for people
journal         what the loop has sent, on disk before it is sent
repair          asks a model again until its answer is a valid action
langgraph       the tools for LangGraph and LangChain; needs langchain-core, an extra
bedrock_local   plays a Bedrock agent: action groups from the template, exact events
"""
