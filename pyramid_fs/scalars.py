"""Front matter blocks through python-frontmatter's YAML handler, every scalar as the text that was typed.

Apart from `format` only so that a command which parses nothing does not import YAML.
"""

from __future__ import annotations

from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

try:
    from yaml import CBaseLoader as _Base
except ImportError:  # a PyYAML built without its C parser
    from yaml import BaseLoader as _Base  # type: ignore[assignment]

_HANDLER = YAMLHandler()


class ScalarError(Exception):
    """A block is not YAML, or says the same key twice; the text is one plain line."""


class _Loader(_Base):
    """Constructs no types, and takes no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((key for at, key in enumerate(keys) if key in keys[:at]), None)
        if twice is not None:
            raise ScalarError(f"`{twice}` stands in it twice (line {node.start_mark.line + 2} on)")
        return super().construct_mapping(node, deep=deep)


def load(block: str) -> dict[str, Any] | None:
    """Parse a block into texts, lists and mappings of texts; None where it is no mapping. Raise ScalarError."""
    try:
        keys = _HANDLER.load(block, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise ScalarError(_plain(error)) from error
    except yaml.YAMLError as error:
        raise ScalarError(str(error).splitlines()[0]) from error
    except (RecursionError, ValueError, TypeError) as error:
        raise ScalarError(str(error)) from error
    if keys is None or keys == "":
        return {}
    return keys if isinstance(keys, dict) else None


def _plain(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    what = error.problem or error.context or "it is not YAML"
    # the block begins on the file's second line, and marks count from 0
    return f"{what} (line {mark.line + 2})" if mark else what
