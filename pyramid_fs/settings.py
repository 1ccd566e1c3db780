"""Settings: what a vault says of itself in `pyramid.toml`, and what a person's machine may run, in `config.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from pyramid_fs.errors import UnknownFormat, UsageError
from pyramid_fs.pyramid import Shape

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = 1
"""The vault format that this version reads and writes."""
LONGEST = timedelta(days=36_500)
"""No time to wait is longer: a bound that keeps sums of times within the calendar."""
VENDORS = ("openai", "anthropic")
"""Summarizers that are a model of somebody's, asked over the network."""
KINDS = ("extractive", "command", *VENDORS, "none")
EXTRACTORS = ("rules", "command", *VENDORS)
FALLBACKS = ("extractive", "none")
MOST_AT_ONCE = 64
PRIVATE = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
"""Ends of names that no public network knows; a name without a dot is private too."""

_VAULT: dict[str, Any] = {
    "format": FORMAT,
    "timezone": "UTC",
    "pyramid": {"batch_notes": 10, "batch_chars": 8000, "fan_in": 5, "target_chars": [600, 800, 1000, 1200]},
    "view": {"chars": 24_000, "boot_chars": 8_000},
    "context": {"topics": 3, "entities": 5, "notes": 10},
    "settle": {"seconds": 30.0, "revised_hours": 24.0},
    "curation": {"admit": 0.5, "prune_below": 0.85, "prune_after_days": 30},
}
_SUMMARIZER: dict[str, Any] = {
    "kind": "extractive",
    "command": [""],
    "model": "",
    "base_url": "",
    "key_command": [""],
    "timeout": 120.0,
    "concurrency": 4,
    "calls_per_day": 500,
    "attempts": 3,
    "fallback": "extractive",
}
_EXTRACTOR: dict[str, Any] = {
    "kind": "rules",
    "command": [""],
    "model": "",
    "base_url": "",
    "key_command": [""],
    "timeout": 120.0,
}
_PERSON: dict[str, Any] = {
    "default_vault": "",
    "summarizer": _SUMMARIZER,
    "advance": {"background": True},
    "extractor": _EXTRACTOR,
    "vaults": {},
}
_OWN: dict[str, Any] = {"summarizer": _SUMMARIZER, "extractor": _EXTRACTOR}
"""What may be said for one vault."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How many of each the boot bundle shows without a query."""

    topics: int = 3
    entities: int = 5
    notes: int = 10


@dataclass(frozen=True, slots=True)
class Curation:
    """When a proposed record is taken in, and when it is pruned."""

    admit: float = 0.5
    """Extraction proposes nothing under this confidence."""
    prune_below: float = 0.85
    prune_after: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a vault says of itself."""

    zone: tzinfo = UTC
    zone_name: str = "UTC"
    shape: Shape = field(default_factory=Shape)
    view_chars: int = 24_000
    boot_chars: int = 8_000
    shown: Shown = field(default_factory=Shown)
    curation: Curation = field(default_factory=Curation)
    read_only: bool = False
    """A vault of a newer format: it is read as far as this version understands it, and never written."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummarizerSettings:
    """How summaries are made on this machine."""

    kind: str = "extractive"
    command: tuple[str, ...] = ()
    model: str = ""
    timeout: float = 120.0
    """Seconds that one summary may take."""
    calls_per_day: int = 500
    """So many summaries a day that nobody asked for; `advance` itself knows no such limit."""
    base_url: str = ""
    """Where a vendor's models are asked; empty for the vendor's own address."""
    key_command: tuple[str, ...] = ()
    """A program that prints the key, where the vendor's environment variable is not set."""
    concurrency: int = 4
    """So many calls at once."""
    attempts: int = 3
    """So many tries at one batch before the fallback."""
    fallback: str = "extractive"
    """Who writes a summary that could not be had: `extractive`, or `none`: the batch keeps waiting."""


@dataclass(frozen=True, slots=True)
class ExtractorSettings:
    """How names and rules of conduct are found in a digest on this machine."""

    kind: str = "rules"
    command: tuple[str, ...] = ()
    model: str = ""
    timeout: float = 120.0
    """Seconds that one digest may take."""
    base_url: str = ""
    """Where a vendor's models are asked; empty for the vendor's own address."""
    key_command: tuple[str, ...] = ()
    """A program that prints the key, where the vendor's environment variable is not set."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a person set up on this machine; a vault can't set any of it."""

    default_vault: str = ""
    summarizer: SummarizerSettings = field(default_factory=SummarizerSettings)
    background: bool = True
    """Whether `record` and `load` start growth."""
    extractor: ExtractorSettings = field(default_factory=ExtractorSettings)
    warnings: tuple[str, ...] = ()


def read_vault(text: str, where: str, zone: Callable[[str], tzinfo]) -> Settings:
    """Read `pyramid.toml`.

    `zone` finds a time zone by its name. Raise UsageError that names file and key for a wrong type; an unknown key is
    a warning that names the closest known one.
    """
    given = _parse(text, where)
    version = given.get("format", FORMAT)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnknownFormat(f"{where}: `format` must be {FORMAT}, not {version!r}")
    read_only = version > FORMAT
    values, warnings = _checked(given, _VAULT, where, strict=not read_only)
    try:
        found = zone(values["timezone"])
    except (ValueError, KeyError, OSError) as error:
        raise UsageError(f"{where}: `timezone`: there is no time zone {values['timezone']!r}") from error
    return Settings(
        zone=found,
        zone_name=values["timezone"],
        shape=_shape(values, where),
        view_chars=_positive(values["view"]["chars"], where, "view.chars"),
        boot_chars=_positive(values["view"]["boot_chars"], where, "view.boot_chars"),
        shown=_shown(values["context"], where),
        curation=_curation(values["curation"], where),
        read_only=read_only,
        warnings=() if read_only else tuple(warnings),  # a newer version has settings of its own
    )


def _shape(values: Mapping[str, Any], where: str) -> Shape:
    pyramid, settle = values["pyramid"], values["settle"]
    targets = pyramid["target_chars"]
    if not targets or not all(chars > 0 for chars in targets):
        raise UsageError(f"{where}: `pyramid.target_chars` must be a list of numbers above 0")
    if pyramid["fan_in"] < 2:  # noqa: PLR2004
        raise UsageError(f"{where}: `pyramid.fan_in` must be at least 2")
    return Shape(
        batch_notes=_positive(pyramid["batch_notes"], where, "pyramid.batch_notes"),
        batch_chars=_positive(pyramid["batch_chars"], where, "pyramid.batch_chars"),
        fan_in=pyramid["fan_in"],
        target_chars=tuple(targets),
        settle=_quiet(settle["seconds"], timedelta(seconds=1), where, "settle.seconds"),
        revised=_quiet(settle["revised_hours"], timedelta(hours=1), where, "settle.revised_hours"),
    )


def _shown(values: Mapping[str, int], where: str) -> Shown:
    for key, count in values.items():
        if count < 0:
            raise UsageError(f"{where}: `context.{key}` must be 0 or more, not {count}")
    return Shown(values["topics"], values["entities"], values["notes"])


def _curation(values: Mapping[str, float], where: str) -> Curation:
    for key in ("admit", "prune_below"):
        if not 0 <= values[key] <= 1:
            raise UsageError(f"{where}: `curation.{key}` must be from 0 to 1, not {values[key]}")
    after = _quiet(values["prune_after_days"], timedelta(days=1), where, "curation.prune_after_days")
    return Curation(float(values["admit"]), float(values["prune_below"]), after)


def _quiet(count: float, unit: timedelta, where: str, key: str) -> timedelta:
    if not 0 <= count <= LONGEST / unit:
        raise UsageError(f"{where}: `{key}` must be 0 or more and less than a century, not {count}")
    return count * unit


def _positive(value: int, where: str, key: str) -> int:
    if value < 1:
        raise UsageError(f"{where}: `{key}` must be above 0, not {value}")
    return value


def read_person(text: str, where: str, vault: str, home: str) -> Config:
    """Read `config.toml`, with what `[vaults."…"]` says for the vault at `vault`."""
    values, warnings = _checked(_parse(text, where), _PERSON, where, strict=True)
    chosen = {name: values[name] for name in _OWN}
    for path, own in values["vaults"].items():
        name = f'vaults."{path}"'
        if not isinstance(own, Mapping):
            raise UsageError(f"{where}: `{name}` must be a table, not {own!r}")
        table, more = _checked(own, _OWN, where, strict=True, under=f"{name}.")
        warnings += more
        if _same_folder(path, vault, home):
            chosen = {each: kept | _given(own, table, each) for each, kept in chosen.items()}
    return Config(
        default_vault=values["default_vault"],
        summarizer=_summarizer(chosen["summarizer"], where),
        background=values["advance"]["background"],
        extractor=_extractor(chosen["extractor"], where),
        warnings=tuple(warnings),
    )


def _given(own: Mapping[str, Any], table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Give what a vault's own table says, without the defaults."""
    return {key: table[name][key] for key in table[name] if key in own.get(name, ())}


def _same_folder(path: str, vault: str, home: str) -> bool:
    one, other = (
        each.replace("\\", "/").rstrip("/") for each in (home + path[1:] if path.startswith("~") else path, vault)
    )
    return one == other


def _summarizer(values: Mapping[str, Any], where: str) -> SummarizerSettings:
    command = _checked_kind(values, KINDS, "summarizer", where)
    if not 1 <= values["concurrency"] <= MOST_AT_ONCE:
        raise UsageError(f"{where}: `summarizer.concurrency` must be 1 to {MOST_AT_ONCE}, not {values['concurrency']}")
    if values["fallback"] not in FALLBACKS:
        raise UsageError(f"{where}: `summarizer.fallback` must be extractive or none, not {values['fallback']!r}")
    return SummarizerSettings(
        values["kind"],
        command,
        values["model"].strip(),
        float(values["timeout"]),
        values["calls_per_day"],
        values["base_url"],
        _argv(values, "key_command", "summarizer", where),
        values["concurrency"],
        _positive(values["attempts"], where, "summarizer.attempts"),
        values["fallback"],
    )


def _extractor(values: Mapping[str, Any], where: str) -> ExtractorSettings:
    return ExtractorSettings(
        values["kind"],
        _checked_kind(values, EXTRACTORS, "extractor", where),
        values["model"].strip(),
        float(values["timeout"]),
        values["base_url"],
        _argv(values, "key_command", "extractor", where),
    )


def _checked_kind(values: Mapping[str, Any], kinds: tuple[str, ...], table: str, where: str) -> tuple[str, ...]:
    """Check what a summarizer and an extractor have alike, and give the program."""
    kind, command = values["kind"], _argv(values, "command", table, where)
    if kind == "command" and not command:
        raise UsageError(f'{where}: `{table}.command` must name a program, as in ["llm", "-m", "small"]')
    if kind not in kinds:
        raise UsageError(f"{where}: `{table}.kind` must be {', '.join(kinds[:-1])} or {kinds[-1]}, not {kind!r}")
    if kind in VENDORS and not values["model"].strip():
        raise UsageError(f"{where}: `{table}.model` must name a model of {kind}'s")
    if not 0 < values["timeout"] <= LONGEST.total_seconds():
        raise UsageError(f"{where}: `{table}.timeout` must be above 0 seconds, and less than a century")
    if values["base_url"]:
        check_url(values["base_url"], f"{where}: `{table}.base_url`")
    return command


def _argv(values: Mapping[str, Any], key: str, table: str, where: str) -> tuple[str, ...]:
    """Read a program and its words; a word may be empty, as in `--tools ""`, the program may not."""
    words = tuple(values[key])
    if not any(words):
        return ()
    if not words[0]:
        raise UsageError(f"{where}: `{table}.{key}` must begin with a program")
    return words


def check_url(url: str, name: str) -> None:
    """Raise UsageError for an address that no model is asked at: notes and key are sent there."""
    from urllib.parse import urlsplit  # where an address is given alone

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{name} is no address ({error}): write it as in http://localhost:11434/v1") from error
    if parts.scheme not in {"http", "https"} or not host or any(sign.isspace() for sign in url):
        raise UsageError(f"{name} must be an address as in http://localhost:11434/v1 or https://host/v1")
    if parts.username is not None:
        raise UsageError(f"{name} must hold no user or password: give the key by its variable or `key_command`")
    if parts.scheme == "http" and not is_near(url):
        raise UsageError(f"{name}: http is for this machine and private networks; write https://{host} instead")


def is_near(url: str) -> bool:
    """Whether an address is this machine, or by its name in a private network."""
    import ipaddress  # where an address is given alone
    from urllib.parse import urlsplit

    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE)
    return address.is_loopback or address.is_private


def _parse(text: str, where: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of TOML, of a number with too many digits, of brackets in brackets
        if re.search(r"^(<{7}|>{7})( |$)", text, re.MULTILINE):
            remedy = "keep the lines that are right, then git add it"
            raise UsageError(f"{where} holds the conflict markers of a merge: {remedy}") from None
        raise UsageError(f"{where} can't be parsed: {error}") from error


def _checked(
    given: Mapping[str, Any], known: Mapping[str, Any], where: str, *, strict: bool, under: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """Lay what was given over the defaults; types must fit where `strict`."""
    values, warnings = dict(known), []
    for key, value in given.items():
        name = f"{under}{key}"
        if key not in known:
            warnings.append(_unknown(name, key, known, where))
        elif isinstance(known[key], dict) and known[key] and isinstance(value, Mapping):
            values[key], more = _checked(value, known[key], where, strict=strict, under=f"{name}.")
            warnings += more
        elif _fits(value, known[key]):
            values[key] = value
        elif strict:
            raise UsageError(f"{where}: `{name}` must be {_type_name(known[key])}, not {value!r}")
    return values, warnings


def _unknown(name: str, key: str, known: Mapping[str, Any], where: str) -> str:
    import difflib  # for a mistyped key alone

    close = difflib.get_close_matches(key, known, 1)
    return f"{where}: `{name}` is no setting" + (f"; did you mean `{close[0]}`?" if close else "")


def _fits(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, list):
        return isinstance(value, list) and all(_fits(item, default[0]) for item in value)
    return isinstance(value, type(default))


def _type_name(default: object) -> str:
    if isinstance(default, list):
        return "a list of numbers" if isinstance(default[0], int) else "a list of texts"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", dict: "a table"}
    return names[type(default)]
