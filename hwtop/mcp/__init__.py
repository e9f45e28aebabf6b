"""`hwtop mcp`: the Model Context Protocol on standard input and output, for coding agents.

Written here (ARCHITECTURE.md says why not with the SDK): `protocol.py` is the form of messages, `server.py` reads and answers them,
`calls.py` runs what takes time, `tools.py` is what can be asked. Only what observes is a tool: whatever touches the job is returned
as a command for the user.
"""
