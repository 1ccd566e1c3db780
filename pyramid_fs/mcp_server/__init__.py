"""The MCP server: the same Memory as the command line's, as tools for agents; the only home of mcp."""
