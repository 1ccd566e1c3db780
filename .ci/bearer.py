"""Passes HTTP on to a server with a bearer token added, for clients that can send none."""

# ruff: noqa: INP001  (a script, no package)

from __future__ import annotations

import asyncio
import os
import sys

MOST_HEAD = 1 << 16
"""Bytes of a request's head."""


def with_token(head: bytes, token: str) -> bytes:
    """Add the header to a request's head, and have the connection end with the answer: the next one needs it too."""
    first, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in rest if not line.lower().startswith(b"connection:")]
    added = [f"Authorization: Bearer {token}".encode(), b"Connection: close"]
    return b"\r\n".join([first, *kept, *added]) + b"\r\n\r\n"


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    except ConnectionError:  # one side went away: so does the other
        pass
    finally:
        sink.close()


async def serve(port: int, behind: int, token: str) -> None:
    """Serve until the process is ended."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", behind)
        server_writer.write(with_token(head, token))
        await asyncio.gather(_copy(reader, server_writer), _copy(server_reader, writer))

    server = await asyncio.start_server(pass_on, "127.0.0.1", port, limit=MOST_HEAD)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), os.environ["PYRAMID_MCP_TOKEN"]))
