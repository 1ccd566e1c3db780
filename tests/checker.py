"""A checker of a vault that shares no code with the store: it recomputes every sum from the files alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
import unicodedata
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
nfc = partial(unicodedata.normalize, "NFC")
ORDER = attrgetter("created", "handle", "path")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIER = re.compile(r"tier-(0|[1-9]\d{0,3})")
EMBED = re.compile(r"!\[\[([^\[\]#\n]+)\]\]")
MEDIA = re.compile(r"\.(png|jpe?g|gif|svg|webp|bmp|avif|heic|tiff?|pdf|mp3|mp4|m4a|wav|ogg|webm|mov)$", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\.(.+)\.md\.icloud")
CONFLICT = re.compile(  # Syncthing; Dropbox, Nextcloud, Obsidian Sync; Seafile; ownCloud
    r"\.sync-conflict-\d{8}-\d{6}(-[0-9A-Z]+)?|_conflict-\d{8}-\d{6}$|\(SFConflict [^()]*\)$"
    r"|\((?:[^()]|\([^()]*\))*\bconflicted copy\b(?:[^()]|\([^()]*\))*\d{4}-?\d\d-?\d\d"
    r"(?:[^()]|\([^()]*\))*\)( ?\(\d+\))?$",
    re.IGNORECASE,
)
TIME = r"(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?[ \t]*(Z|UTC|[+-]\d\d:?\d\d)?"
DATE = re.compile(rf"(?<!\d)(\d{{4}})-(\d\d)-(\d\d)(?:(?:T|[ \t]+){TIME})?(?!\d)", re.IGNORECASE)
NAME_DATE = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?:-(\d\d)(\d\d)(\d\d))?(?!\d)")


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong, with the path relative to the vault."""

    path: str
    reason: str


@dataclass
class ModelReport:
    """What was counted in one model; all lists are sorted handles."""

    name: str
    notes: int
    covered: int
    tail: int
    missing: list[str]
    revised: list[str]
    summaries: dict[str, int]
    cover: list[str]
    active: dict[str, list[str]]
    other: dict[str, list[str]]


@dataclass
class Report:
    """The whole answer; it balances if there is no fault and every model's sum comes out."""

    balances: bool = False
    models: list[ModelReport] = field(default_factory=list)
    problems: list[Fault] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


@dataclass(eq=False)
class File:
    """A note or a summary. ``parts`` is its absolute path in NFC without ``.md``, ``inner`` the part in its model."""

    path: str
    handle: str
    parts: tuple[str, ...]
    inner: tuple[str, ...]
    digest: str | None = None  # None where the current version can't be known
    created: int = 0
    explicit: int | None = None  # a note's own date in its front matter
    embed: str | None = None
    problem: str | None = None
    state: str = "broken"  # of a summary: broken until it has been read, then loser, waiting or active
    keys: dict[str, object] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    dates: list[int] = field(default_factory=list)
    sources: list[File | None] = field(default_factory=list)
    count: int = 0
    span: tuple[int, int] = (0, 0)


@dataclass
class Model:
    """What lies in one model's folder."""

    folder: Path
    notes: list[File] = field(default_factory=list)
    tiers: dict[int, list[File]] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    placeholders: set[str] = field(default_factory=set)


def index(files: Iterable[File]) -> dict[str, list[File]]:
    """Files by handle, to look links up in."""
    names = defaultdict(list)
    for file in sorted(files, key=lambda f: f.path):
        names[file.handle].append(file)
    return names


def pick(names: dict[str, list[File]], link: str, digest: str | None = None, but: File | None = None) -> File | None:
    """The one file a link means: of several the first with that digest, else the one with just that path."""
    hits = ([f for f in names.get(w[-1], []) if f.parts[-len(w) :] == w and f is not but] for w in spellings(link))
    found = next((files for files in hits if files), [])
    if len(found) > 1:
        same = [f for f in found if digest and f.digest == digest][:1]
        found = same or [f for f in found if f.inner in spellings(link)]
    return found[0] if len(found) == 1 else None


def sha(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def flat(value: object) -> str:
    """A front matter value as text; ``[[x]]`` without quotes is a list in a list to YAML."""
    while isinstance(value, list):
        value = value[0] if len(value) == 1 else ", ".join(v for v in value if isinstance(v, str))
    return value.strip() if isinstance(value, str) else ""


def spellings(link: str) -> list[tuple[str, ...]]:
    """The paths a link may stand for, the likeliest first: with and, last, without alias and ``.md``."""
    text = nfc(link).strip().strip("\"'").strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2]
    both = [text, text.partition("|")[0].rstrip("\\")]
    names = (n for name in both for n in (name, name.strip(), name.strip().removesuffix(".md")))
    return list(dict.fromkeys(path for n in names if (path := tuple(p for p in n.split("/") if p)))) or [("",)]


def digest_of(body: str) -> str:
    """The digest of a body without its front matter."""
    return sha(" ".join(re.findall(r"\w+", nfc(body).casefold())) or body.strip())[:16]


def moment(text: str, zone: tzinfo) -> int | None:
    """The first date in a text, in nanoseconds since 1970; None if there is none or it can't be."""
    if not (found := DATE.search(text)):
        return None
    *numbers, fraction, offset = found.groups()
    try:
        year, month, day, hour, minute, second = (int(n or 0) for n in numbers)
        when = datetime(year, month, day, hour, minute, second, tzinfo=UTC if offset else zone) - EPOCH
        if offset and offset[0] in "+-":
            when -= int(offset[0] + "1") * timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
    except (ValueError, OverflowError):
        return None
    return (when.days * 86400 + when.seconds) * 10**9 + int((fraction or "0").ljust(9, "0")[:9])


def split(text: str) -> tuple[dict[str, object], str, str | None]:
    """Front matter, body, and why the front matter can't be used."""
    lines = text.split("\n") if text.startswith("---") else []
    fences = [i for i, line in enumerate(lines) if line.rstrip(" \t") == "---"][:2]
    if len(fences) < 2 or fences[0]:
        return {}, text, "the front matter opens and is not closed" if fences == [0] else None
    body = "\n".join(lines[fences[1] + 1 :])
    try:
        block = "\n".join(lines[1 : fences[1]]) + "\n"
        keys, node = yaml.load(block, LOADER), yaml.compose(block, LOADER)  # the second for keys that stand twice
        names = [str(key.value) for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        if twice := [key for key, number in Counter(names).items() if number > 1]:
            raise ValueError(f"the key {twice[0]} stands twice")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return {}, body, "the front matter can't be parsed: " + " ".join(str(error).split())
    return (keys or {}, body, None) if keys is None or isinstance(keys, dict) else ({}, text, None)


@dataclass
class Checker:
    """One pass over one vault."""

    root: Path
    zone: tzinfo = UTC
    tombstones: set[tuple[str, str]] = field(default_factory=set)
    models: list[Model] = field(default_factory=list)
    faults: set[Fault] = field(default_factory=set)

    def fault(self, path: Path | str, reason: str, when: bool = True) -> None:
        """Note down a fault, each once."""
        shown = path if isinstance(path, str) else path.relative_to(self.root).as_posix()
        self.faults |= {Fault(shown, reason)} if when else set()

    def listing(self, folder: Path) -> list[tuple[str, Path, bool]]:
        """What lies in a folder, sorted: name, path, whether it is a folder. No links, no devices."""
        try:
            with os.scandir(folder) as found:
                kinds = [(e.name, e.is_dir(follow_symlinks=False), e.is_file(follow_symlinks=False)) for e in found]
        except OSError as error:
            self.fault(folder, f"the folder can't be read: {error.strerror}")
            return []
        return [(name, folder / name, is_dir) for name, is_dir, is_file in sorted(kinds) if is_dir or is_file]

    def markdown(self, folder: Path, model: Model, deep: bool) -> Iterator[Path]:
        """The markdown files that may count; with ``deep`` those of a model, without its tiers and retired ones."""
        for name, path, is_folder in self.listing(folder):
            model.placeholders |= {nfc(name[1:-10])} if PLACEHOLDER.fullmatch(name) else set()
            if name.startswith((".", "~$", "~syncthing~")):
                continue
            if is_folder and deep:
                if folder != model.folder or not (name == "retired" or TIER.fullmatch(name)):
                    yield from self.markdown(path, model, deep)
            elif not is_folder and name.endswith(".md") and not CONFLICT.search(name[:-3]):
                yield path

    def text(self, path: Path) -> tuple[str | None, str | None, int]:
        """A text with plain line ends, what is wrong with it, and its time. No text and no reason: it is gone."""
        try:
            data, mtime = path.read_bytes(), path.stat().st_mtime_ns
        except OSError as error:
            return None, None if isinstance(error, FileNotFoundError) else f"it can't be read: {error.strerror}", 0
        text = data.decode("utf-8-sig", "surrogateescape")
        odd = re.search("[\0\udc80-\udcff]", text)
        reason = None if not odd else "it holds NUL bytes" if odd[0] == "\0" else "it is not UTF-8"
        return text.replace("\r\n", "\n").replace("\r", "\n"), reason, mtime

    def file(self, path: Path, model: Model) -> File:
        """A file of which the names alone are known."""
        bare = path.with_name(path.name[:-3])
        parts, inner = ([nfc(p) for p in x.parts] for x in (bare, bare.relative_to(model.folder)))
        return File(path.relative_to(self.root).as_posix(), nfc(bare.name), tuple(parts), tuple(inner))

    def read_note(self, path: Path, model: Model) -> File | None:
        """A note, or None where the file is a card, holds white space alone, or is gone."""
        note = self.file(path, model)
        text, reason, mtime = self.text(path)
        keys, body, unusable = split(text or "")
        if len(note.inner) == 1 and (note.handle == nfc(model.folder.name) or flat(keys.get("type")) == "model"):
            return None  # the card, or one that a renamed folder stranded
        if text is None or not text.strip():
            note.problem = reason
            return note if reason else None
        written, name = flat(keys.get("created")), NAME_DATE.search(note.inner[-1])
        undated = (written or isinstance(keys.get("created"), dict)) and moment(written, self.zone) is None
        note.problem = reason or unusable or (f"created can't be read as a date: {written}" if undated else None)
        stamp = (name[1] + (f"T{name[2]}:{name[3]}:{name[4]}Z" if name[2] else "")) if name else ""
        own = [moment(text, self.zone) for text in (written, flat(keys.get("date")), stamp)]
        note.explicit = next((date for date in own[:2] if date is not None), None)
        note.created = next((date for date in own if date is not None), mtime)
        embed = EMBED.fullmatch(body.strip())
        note.embed = embed[1] if embed and not MEDIA.search(embed[1].partition("|")[0].strip()) else None
        note.digest = digest_of(body) if note.embed is None else None
        return note

    def read_summary(self, path: Path, model: Model, tier: int) -> File:
        """A summary; it stays broken, with a fault, where it can't be read as one."""
        one = self.file(path, model)
        text, reason, _ = self.text(path)
        one.keys, body, unusable = split(text or "")
        created, said = moment(flat(one.keys.get("created")), self.zone), flat(one.keys.get("tier"))
        lists = map(one.keys.get, ("provenance", "digests", "dates"))
        one.links, one.digests, dates = ([flat(v) for v in x] if isinstance(x, list) else [flat(x)] for x in lists)
        when = [moment(date, self.zone) for date in dates]
        one.dates = [date for date in when if date is not None]
        reasons = [
            (reason or unusable, reason or unusable),
            (created is None, "front matter or created is missing or can't be read"),
            (not all(spellings(link)[0][0] for link in one.links or [""]), "provenance lacks a link"),
            (not len(one.links) == len(one.digests) == len(dates), "provenance, digests and dates differ in length"),
            (None in when, "an entry of dates can't be read as a date"),
            (not all(re.fullmatch(r"[0-9a-f]{16}", d) for d in one.digests), "an entry of digests isn't 16 hex digits"),
            (not body.strip(), "its text is empty"),
        ]
        if wrong := next((why for is_so, why in reasons if is_so), None):
            self.fault(path, f"it can't be read as a summary: {wrong}")
            return one
        one.state, one.created, one.digest = "read", created or 0, digest_of(body)
        self.fault(path, f"it lies in tier-{tier} and says tier {said or 'nothing'}", said != str(tier))
        self.fault(path, "its text is cut: no line end after the last line", not body.endswith("\n"))
        return one

    def read_vault(self) -> None:
        """Settings, ledger (the tombstones; lines that say nothing of use are passed over) and models."""
        try:
            settings = tomllib.loads((self.root / "pyramid.toml").read_text("utf-8-sig"))
            self.zone = ZoneInfo(settings["timezone"]) if "timezone" in settings else UTC
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self.fault("pyramid.toml", f"it can't be used: {error}")
        folders = {name for name, _, is_folder in self.listing(self.root) if is_folder}
        models, ledger = (self.listing(self.root / name) if name in folders else [] for name in ("models", "ledger"))
        self.models = [self.read_model(Model(path)) for name, path, is_dir in models if is_dir and name[0] != "."]
        for name, path, _ in ledger:
            text, reason, _ = self.text(path) if name.endswith(".jsonl") and name[0] != "." else (None, None, 0)
            self.fault(path, reason or "", text is None and reason is not None)
            for line in (text or "").split("\n"):
                with suppress(ValueError, RecursionError, TypeError, LookupError, AttributeError):
                    entry = json.loads(line)
                    self.tombstones.add((entry["forgot"].lower(), entry["digest"].lower()))

    def read_model(self, model: Model) -> Model:
        """All files of one model."""
        notes = self.markdown(model.folder, model, deep=True)
        model.notes = [note for path in notes if (note := self.read_note(path, model))]
        folders = {name: path for name, path, is_folder in self.listing(model.folder) if is_folder}
        if "retired" in folders:
            model.retired = {nfc(p.name[:-3]) for p in self.markdown(folders["retired"], model, deep=False)}
        for tier, name in sorted((int(k[1]), n) for n in folders if (k := TIER.fullmatch(n))):
            shape = re.compile(rf".+-t{tier}-\d+-[0-9a-z]{{4}}")
            files = [p for p in self.markdown(folders[name], model, deep=False) if shape.fullmatch(nfc(p.name[:-3]))]
            kept = [p for p in files if nfc(p.name[:-3]) not in model.retired]
            model.tiers[tier] = [self.read_summary(path, model, tier) for path in kept]
        return model

    def dead(self, handle: str, digest: str | None) -> bool:
        """Whether a tombstone fits both the handle and the digest."""
        return (sha(handle), digest) in self.tombstones

    def settle_embeds(self) -> None:
        """Give each embed its target's text, and leave out what is forgotten."""
        everywhere = index(note for model in self.models for note in model.notes)
        own = {id(note): names for m in self.models for names in [index(m.notes)] for note in m.notes}
        gone: dict[File, bool] = {}
        for note in (n for m in self.models for n in m.notes if n.embed is not None):
            way: list[File] = [note]
            while way and (link := way[-1].embed) is not None:
                target = pick(own[id(way[-1])], link, but=way[-1]) or pick(everywhere, link, but=way[-1])
                way = [*way, target] if target and target not in way else []
            gone[note] = not way or self.dead(way[-1].handle, way[-1].digest)
            if way:
                note.digest, note.created, note.explicit = way[-1].digest, way[-1].created, way[-1].explicit
        for model in self.models:
            model.notes = [n for n in model.notes if not self.dead(n.handle, n.digest)]
            for note in (n for n in model.notes if gone.get(n)):
                note.digest, note.problem = None, note.problem or "the note that it embeds is gone"

    def settle_active(self, model: Model) -> None:
        """The active set: tier by tier, in the order (created, handle)."""
        for tier, summaries in model.tiers.items():
            below = index(model.tiers.get(tier - 1, []) if tier else model.notes)
            every = (s for m in (self.models if tier else [model]) for summaries in m.tiers.values() for s in summaries)
            strangers = index([*every, *(model.notes if tier else [])])
            taken: set[tuple[object, str]] = set()
            for one in sorted((s for s in summaries if s.state != "broken"), key=ORDER):
                lost = absent = False
                keys: set[tuple[object, str]] = set()
                for link, digest in zip(one.links, one.digests, strict=True):
                    source = pick(below, link, digest)
                    if tier:
                        lost |= source.state == "loser" if source else spellings(link)[-1][-1] in model.retired
                        absent |= source is None or source.state in ("broken", "waiting")
                    one.sources.append(source)
                    way = spellings(link)[-1]
                    key = (source or way, "" if tier else digest)
                    strange = source is None and pick(strangers, link) is not None
                    self.fault(one.path, f"it names {way[-1]}, which is no source for tier {tier} here", strange)
                    self.fault(one.path, f"it names {way[-1]} twice", key in keys)
                    keys.add(key)
                one.state = "loser" if lost or keys & taken else "waiting" if absent else "active"
                taken |= keys if one.state == "active" else set()

    def check_sums(self, one: File, tier: int) -> None:
        """Count, span and order in front matter against what lies below."""
        below = [s for s in one.sources if s is not None] if tier else []
        spans = [s.span for s in below] if tier else [(date, date) for date in one.dates]
        one.count = sum(s.count for s in below) if tier else len(one.links)
        one.span = min(s[0] for s in spans), max(s[1] for s in spans)
        said = flat(one.keys.get("note_count"))
        leeway = len(self.tombstones) if tier else 0  # a note below may have been forgotten
        wrong = not re.fullmatch(r"[0-9]{1,9}", said) or abs(int(said) - one.count) > leeway
        self.fault(one.path, f"note_count is {said or 'missing'}, the sum below is {one.count}", wrong)
        for key, true, sign in (("span_from", one.span[0], 1), ("span_to", one.span[1], -1)):
            said = flat(one.keys.get(key))
            when = moment(said, self.zone)
            wider = when is not None and bool(self.tombstones) and (tier > 0 or (true - when) * sign > 0)
            self.fault(one.path, f"{key} is {said or 'missing'}: not what its sources say", when != true and not wider)
        latest = max([*one.dates, *(s.created for s in below)])
        self.fault(one.path, "created is not later than that of all its sources", latest >= one.created)

    def check_cover(self, model: Model) -> ModelReport:
        """Each note's current version against the active tier-0 summaries."""
        every = [s for summaries in model.tiers.values() for s in summaries]
        active = {t: [s for s in ss if s.state == "active"] for t, ss in model.tiers.items()}
        lists = ("loser", "waiting", "broken", "absent", "outdated", "redated", "missing")  # the first three are states
        other = {"retired": list(model.retired), **{key: [s.handle for s in every if s.state == key] for key in lists}}
        times: dict[File, int] = defaultdict(int)
        last: dict[File | None, str] = {}
        loose: list[tuple[str, str]] = []
        for one in sorted(active.get(0, []), key=ORDER):
            rows = zip(one.sources, one.links, one.digests, one.dates, strict=True)
            for source, link, digest, date in dict.fromkeys(rows):
                last[source] = digest
                if source is None:
                    loose.append((spellings(link)[-1][-1], digest))
                elif source.digest == digest:
                    times[source] += 1
                    other["redated"] += [source.handle] if source.explicit not in (None, date) else []
        times.update({n: 1 for n in last if n and n.digest is None})  # can't be read: what was summarized stays covered
        free: dict[str | None, list[File]] = defaultdict(list)
        for note in sorted((n for n in model.notes if n not in times), key=ORDER, reverse=True):
            free[note.digest].append(note)
        for handle, digest in loose:
            if handle in model.placeholders:
                other["absent"].append(handle)
            elif free[digest]:
                times[free[digest].pop()] += 1
            elif not self.dead(handle, digest):
                other["missing"].append(handle)
        for twice in (n for n in times if times[n] > 1):
            self.fault(twice.path, f"its current version is in {times[twice]} active tier-0 summaries")
        covered, tail = sum(times.values()), sum(1 for note in model.notes if note not in times)
        self.fault(model.folder, f"its notes are not {covered} covered + {tail}", covered + tail != len(model.notes))
        above: dict[File | None, set[str]] = defaultdict(set)
        for one in (s for tier, summaries in active.items() if tier for s in summaries):
            for source, digest in zip(one.sources, one.digests, strict=True):
                above[source].add(one.path)
                other["outdated"] += [one.handle] if source and source.digest != digest else []
        for source in (s for s in above if s and len(above[s]) > 1):
            self.fault(source.path, "it is rolled up more than once: " + ", ".join(sorted(above[source])))
        names = {str(t): sorted(s.handle for s in ss) for t, ss in active.items() if ss}
        return ModelReport(
            model.folder.name,
            len(model.notes),
            covered,
            tail,
            sorted(other.pop("missing")),
            revised=sorted(n.handle for n in last if n and n.digest not in (None, last[n])),
            summaries={tier: len(handles) for tier, handles in names.items()},
            active=names,
            cover=sorted(s.handle for ss in active.values() for s in ss if s not in above),
            other={key: sorted(set(handles)) for key, handles in other.items()},
        )


def check(vault: Path) -> Report:
    """Check one vault: read everything, then judge it model by model."""
    checker, report = Checker(Path(os.path.abspath(vault))), Report()  # noqa: PTH100
    checker.read_vault()
    checker.settle_embeds()
    for model in checker.models:
        checker.settle_active(model)
        for one, tier in ((s, tier) for tier, summaries in model.tiers.items() for s in summaries):
            if one.state == "active" or (one.state != "broken" and not tier):
                checker.check_sums(one, tier)
        report.models.append(checker.check_cover(model))
        report.problems += [Fault(n.path, n.problem) for n in model.notes if n.problem]
    report.faults = sorted(checker.faults)
    report.balances = not report.faults and all(m.notes == m.covered + m.tail for m in report.models)
    return report


if __name__ == "__main__":
    print(json.dumps(asdict(answer := check(Path(*sys.argv[1:2]))), indent=1))
    sys.exit(0 if answer.balances else 1)
