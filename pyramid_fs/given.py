"""What callers of `Memory` hand in, made what the hints of its verbs say, or refused in a sentence; pure."""

from __future__ import annotations

import functools
import operator
import os
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex, TypeVar, cast

from pyramid_fs import times
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_Class = TypeVar("_Class")


def text(name: str, value: object, zone: tzinfo) -> str:  # noqa: ARG001  (all are called alike)
    """Take a text."""
    if isinstance(value, str):
        return value
    raise UsageError(f"`{name}` is a text, not {_what(value)}")


def texts(name: str, value: object, zone: tzinfo) -> Sequence[str]:  # noqa: ARG001
    """Take a list of texts: whatever yields them, and one text as a list of one."""
    if isinstance(value, str):
        return [value]
    try:
        each = iter(cast("Iterable[object]", value))
    except TypeError:
        raise UsageError(f"`{name}` is a list of texts, not {_what(value)}") from None
    found = list(each)
    if odd := [one for one in found if not isinstance(one, str)]:
        raise UsageError(f"`{name}` is a list of texts, and {_what(odd[0])} is in it")
    return cast("list[str]", found)


def whole(name: str, value: object, zone: tzinfo) -> int:  # noqa: ARG001
    """Take a whole number."""
    try:
        return operator.index(cast("SupportsIndex", value))
    except TypeError:
        raise UsageError(f"`{name}` is a whole number, not {_what(value)}") from None


def number(name: str, value: object, zone: tzinfo) -> float:  # noqa: ARG001
    """Take a number, of whatever type; a text is none."""
    try:
        if not isinstance(value, str | bytes | bytearray):
            return float(cast("SupportsFloat", value))
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"`{name}` is a number, not {_what(value)}")


def time(name: str, value: object, zone: tzinfo) -> datetime:
    """Take a time: what says no zone is in the vault's, a date is the start of that day, a text is read."""
    try:
        if isinstance(value, datetime) and value.utcoffset() is not None:
            value.astimezone(UTC)  # near the end of all calendars there is none
            return value
        if isinstance(value, str):
            return times.parse(value, zone)
        if isinstance(value, date):
            return times.parse(value.isoformat(), zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"`{name}`: {error}") from None
    raise UsageError(f"`{name}` is a date or a time, not {_what(value)}: 2026-11-29, or a datetime")


def moment(name: str, value: object, zone: tzinfo) -> str | datetime:
    """Take a time, or a text that says which; a date is that text."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str) else time(name, value, zone)


def path(name: str, value: object, zone: tzinfo | None = None) -> Path:  # noqa: ARG001
    """Take a path, also as a text."""
    spelled = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(spelled, str):
        raise UsageError(f"`{name}` is a path, not {_what(value)}")
    if not spelled:
        raise UsageError(f"`{name}` is empty: give a path")
    return value if isinstance(value, Path) else Path(spelled)


def path_or_open(name: str, value: object, zone: tzinfo) -> object:
    """Take a path, or what is open."""
    return value if hasattr(value, "read") or hasattr(value, "write") else path(name, value, zone)


def _what(value: object) -> str:
    return "None" if value is None else type(value).__name__


_TAKES: Mapping[str, Callable[[str, object, tzinfo], object]] = {
    "str": text,
    "Sequence[str]": texts,
    "tuple[str, ...]": lambda *given: tuple(texts(*given)),
    "int": whole,
    "float": number,
    "datetime": time,
    "str | datetime": moment,
    "Path": path,
    "Path | BinaryIO": path_or_open,
}
"""By hint; what has another is taken as it comes."""


class _Rule(NamedTuple):
    take: Callable[[str, object, tzinfo], object]
    is_optional: bool

    def of(self, name: str, value: object, zone: tzinfo) -> object:
        return None if value is None and self.is_optional else self.take(name, value, zone)


def _rules(hints: Mapping[str, object]) -> dict[str, _Rule]:
    spelled = {name: hint for name, hint in hints.items() if isinstance(hint, str) and name != "return"}
    plain = {name: hint.removesuffix(" | None") for name, hint in spelled.items()}
    return {name: _Rule(_TAKES[hint], hint != spelled[name]) for name, hint in plain.items() if hint in _TAKES}


def held(hints: Mapping[str, object], values: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """Make named values what the hints say; raise UsageError for the first that can't be."""
    rules = _rules(hints)
    return {name: rules[name].of(name, value, zone) if name in rules else value for name, value in values.items()}


def by_hints(owner: type[_Class]) -> type[_Class]:
    """Have every public verb of a class, those that it inherits too, take what its hints say."""
    for name in dir(owner):
        verb = getattr(owner, name)
        if not name.startswith("_") and isinstance(verb, FunctionType) and (rules := _rules(verb.__annotations__)):
            setattr(owner, name, _checking(verb, rules))
    return owner


def _checking(verb: FunctionType, rules: Mapping[str, _Rule]) -> Callable[..., Any]:
    places = verb.__code__.co_varnames[1 : verb.__code__.co_argcount]

    @functools.wraps(verb)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        zone = self.vault.settings.zone
        first = dict(zip(places, given, strict=False))
        known = {name: rules[name].of(name, value, zone) for name, value in (first | named).items() if name in rules}
        taken = [known.get(name, value) for name, value in first.items()]
        return verb(self, *taken, *given[len(taken) :], **{name: known.get(name, named[name]) for name in named})

    return called
