"""This machine's own addresses: whether a host is one, and listening there."""

from __future__ import annotations

import ipaddress
import socket

from pyramid_fs.errors import UsageError


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check(host: str, *, allow_remote: bool) -> None:
    """Raise UsageError for an address that other machines reach, unless that was asked for."""
    if allow_remote or is_loopback(host):
        return
    raise UsageError(
        f"{host!r} can be reached from other machines, and the memory with it: use 127.0.0.1, or add --allow-remote"
    )


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address (port 0: any that is free); raise UsageError where that can't be done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise UsageError(f"{host}:{port} can't be served ({error.strerror}): name another --port or --host") from None
    return listening
