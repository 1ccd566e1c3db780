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

UNFOLDED = 10_000
"""A block may hold so many values once its aliases are followed: ten lines of aliases can stand for a billion."""

_IN_PLAIN_WORDS = (
    ("mapping values are not allowed", "a value with `: ` in it needs quotes"),
    ("cannot start any token", "a tab, or a value that begins with @, ` or %, needs quotes"),
    ("unexpected end of stream", "a quote is opened and never closed"),
    ("could not find expected ':'", "a line is no `key: value`"),
    ("did not find expected key", "text stands after a closing quote or bracket"),
    ("undefined alias", "a value that begins with * needs quotes"),
    ("expected alphabetic or numeric character", "a value that begins with * or & needs quotes"),
    ("unhashable key", "brackets stand where a key should: a template that was not filled in?"),
    ("expected ',' or", "a bracket is opened and never closed"),
    ("expected '-' indicator", "a line in a list does not begin with `- `, or goes on after a bracket"),
)
"""What the parser says, and what a person can make something of."""

_HANDLER = YAMLHandler()


class ScalarError(Exception):
    """A block is not YAML, or says the same key twice; the text is one plain line."""


class _Loader(_Base):
    """Constructs no types, and takes no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise ScalarError(f"`{key.value}` stands in it twice (line {key.start_mark.line + 2})")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def load(block: str) -> dict[str, Any] | None:
    """Parse a block into texts, lists and mappings of texts; None where it is no mapping. Raise ScalarError."""
    try:
        keys = _HANDLER.load(block, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise ScalarError(_plain(error)) from error
    except yaml.YAMLError as error:
        raise ScalarError(str(error).splitlines()[0]) from error
    except (RecursionError, OverflowError, ValueError, TypeError) as error:
        raise ScalarError("it nests too deep" if isinstance(error, RecursionError) else str(error)) from error
    if keys is None or keys == "":
        return {}
    if "*" in block and _values(keys, {}) > max(UNFOLDED, len(block)):
        raise ScalarError("its aliases unfold to too much")
    return keys if isinstance(keys, dict) else None


def _values(value: object, known: dict[int, int]) -> int:
    """Count the values in a value; one that aliases share is walked once, and counted as often as it stands there."""
    if not isinstance(value, (list, dict)):
        return 1
    if id(value) not in known:
        below = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_values(one, known) for one in below)
    return known[id(value)]


def _plain(error: yaml.MarkedYAMLError) -> str:
    at = error.problem_mark or error.context_mark
    said = error.problem or error.context or "it is not YAML"
    what = next((plain for mark, plain in _IN_PLAIN_WORDS if mark in said), said)
    # the block begins on the file's second line, and marks count from 0
    return f"{what} (line {at.line + 2})" if at else what
