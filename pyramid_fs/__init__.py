"""Plain-text memory for AI agents: raw notes kept for ever, summaries that name their exact sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory

__version__ = "0.1.0"
__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> object:
    # `pyramid --version` must not pay for the whole library
    if name == "Memory":
        from pyramid_fs.memory import Memory

        return Memory
    raise AttributeError(f"module 'pyramid_fs' has no attribute {name!r}")
