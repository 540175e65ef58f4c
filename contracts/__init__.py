"""What a tool promises: its name and version, its input, its answers, its errors, its effect.

A tool is one module `contracts/<tool>/v<N>.py` that ends in a `SPEC`. Everything that a caller,
a reviewer or a cloud needs to know is derived from it; nothing here does I/O.

    spec          ToolSpec and the small vocabularies it is written in
    types         the fields that tools share: keys, paths, revisions
    errors        every code a tool may answer with, and what a caller does about it
    results       success and failure as models, and their projection for MCP and LangGraph
    caller        who calls: the claims of a signed caller token
    registry      finds the specs and refuses collisions
    fingerprint   canonical JSON and the hash of a call's arguments
    instruction   what an agent is told about the tools as a whole
    publishing    digests of what was published, and whether a spec still keeps to them
    dialects      one emitter a target
    schemas       what the emitters wrote: committed, reviewed, digested
"""
