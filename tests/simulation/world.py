"""What happens on the machines: the time, the texts, and all that people and agents do with a vault."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs import layout, vault
from pyramid_fs.errors import NoSuchHandle, RefusedWrite, UsageError
from pyramid_fs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from pyramid_fs.summarizers import Request

START = datetime(2027, 3, 1, 12, tzinfo=UTC)
MODELS = ("alice", "harbour")
BATCH_NOTES, FAN_IN = 4, 3
SETTINGS = f"""\
format = 1

[pyramid]
batch_notes = {BATCH_NOTES}
batch_chars = 2000
fan_in = {FAN_IN}

[curation]
prune_below = 0.85
prune_after_days = 2
"""
SAYINGS = (
    "The morning train leaves at seven",
    "Beans need two cups of water",
    "The harbour is closed on Sundays",
    "The ferry was late again",
    "Lime went on the third bed",
    "Caf\u00e9 by the bridge has the better bread",
)
_NUMBER = re.compile(r"\((\d+)\)\.$", re.MULTILINE)
NEWLINE = "\n"
HEADS = ("", "---\ntags: [kept]\n---\n", "---\ncreated: 2027-02-11\n---\n", "---\ndate: 2027-02-20T10:00Z\n---\n")


@dataclass
class World:
    """What all machines share: chance, the true time, and the list of all that was ever written."""

    random: Random
    now: datetime = START
    said: dict[str, str] = field(default_factory=dict)
    """Every line that somebody wrote, and where."""
    home: dict[str, str] = field(default_factory=dict)
    """The name of the note that a line was written in."""
    instead: set[str] = field(default_factory=set)
    """Lines that somebody wrote in the place of another: nearly its words, so they go with it where it is forgotten."""
    taken_back: set[str] = field(default_factory=set)
    """Lines that their reader replaced or deleted, having them before their eyes."""
    forgotten: set[str] = field(default_factory=set)
    """Lines of notes that somebody had forgotten …"""
    touched: set[str] = field(default_factory=set)
    """… and lines that also stand in other versions, or in copies that somebody brought back: these are kept."""
    bin: list[tuple[str, str]] = field(default_factory=list)
    """Paths and texts of what was deleted or forgotten, as an old backup holds them."""
    counts: Counter[str] = field(default_factory=Counter)
    serial: int = 0

    def number(self) -> int:
        """Give the next number: what holds it is one of a kind."""
        self.serial += 1
        return self.serial

    def line(self, where: str) -> str:
        """Say something that nobody has said."""
        line = f"{self.random.choice(SAYINGS)} ({self.number()})."
        self.said[line] = where
        return line

    def text(self, where: str) -> str:
        """Say a few things."""
        return "\n".join(self.line(where) for _ in range(self.random.choice((1, 1, 2, 4))))

    def take_back(self, lines: list[str]) -> None:
        """Note that somebody removed lines."""
        self.taken_back.update(line for line in lines if line in self.said)

    def move(self, line: str, stem: str) -> None:
        """Have a line that somebody wrote stand in another note by right."""
        if line in self.home:
            self.home[line] = stem

    def strayed(self, root: Path) -> list[tuple[str, str]]:
        """List the lines that stand in another note than they were written in, each with where it stands."""
        found = ((line, path.stem) for path in texts_of(root) for line in lines_of(path))
        return [
            (line, stem)
            for line, stem in found
            if line in self.home
            and unicodedata.normalize("NFC", stem).partition(".sync-")[0].partition(" (")[0]
            != unicodedata.normalize("NFC", self.home[line]).partition(" (")[0]
        ]

    def lost(self, root: Path) -> list[str]:
        """List the lines that stand nowhere in a vault and that nobody took back."""
        stand = "\n".join(read(path) for path in texts_of(root))
        return sorted(line for line in self.said if line not in self.taken_back and line not in stand)


@dataclass
class Tells:
    """A summarizer that is quick, and never says the same twice: of each redo there is one text."""

    world: World
    by: str
    name, draft, takes, slow = "tells", False, 0, False

    def summarize(self, request: Request) -> str:
        """Name the sources, and repeat the last line of each."""
        self.world.counts["summaries written"] += 1
        said = "\n".join(f"{item.handle}: {item.text.rpartition(NEWLINE)[2]}" for item in request.items)
        return f"Summary {self.world.number()} by {self.by}, of tier {request.tier} of {request.model}.\n{said}"


@dataclass
class Machine:
    """One machine: a copy of the vault, a clock that goes wrong, a cache folder, chance of its own."""

    world: World
    name: str
    root: Path
    skew: timedelta
    _memory: Memory | None = None

    def clock(self) -> datetime:
        """Say what time it is here."""
        return self.world.now + self.skew

    @property
    def memory(self) -> Memory:
        """The vault as the store on this machine holds it open."""
        if self._memory is None:
            beside = self.root.parent / f"{self.root.name}-cache"
            beside.mkdir(exist_ok=True)
            (beside / "machine").write_text(f"{self.name:0>6}\n")
            environ = {"PYRAMID_CACHE_DIR": str(beside), "PYRAMID_CONFIG": str(beside / "none.toml")}
            tells = Tells(self.world, self.name)
            self._memory = Memory(self.root, environ=environ, clock=self.clock, suffix=self.suffix, summarizer=tells)
        return self._memory

    def suffix(self) -> str:
        """Draw the suffix of a new name."""
        return "".join(self.world.random.choices(layout.ALPHABET, k=layout.SUFFIX))

    def close(self) -> None:
        """Let go of the vault."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def write(self, path: Path, text: str) -> None:
        """Write a file as a person does at this moment."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        self.date(path)

    def date(self, path: Path) -> None:
        """Give a file the time of this machine's clock."""
        os.utime(path, (self.clock().timestamp(),) * 2)


def new_vault(root: Path) -> None:
    """Make a vault of a small shape."""
    root.mkdir(parents=True)
    (root / layout.SETTINGS).write_text(SETTINGS, encoding="utf-8")
    vault.make_vault(root, models=dict.fromkeys(MODELS, "What is known of it."))


# Looking


def markdown(root: Path, *tops: str) -> Iterator[Path]:
    """Yield the markdown files under some folders, conflict copies included, in an order that is always the same."""
    for top in tops:
        for folder, folders, names in os.walk(root / top):
            folders.sort()
            yield from (Path(folder) / name for name in sorted(names) if name.endswith(".md") and name[0] not in ".~")


def is_made(path: Path, root: Path) -> bool:
    """Whether a file lies where the store keeps summaries."""
    parts = path.relative_to(root).parts
    return parts[0] == "models" and len(parts) > 3 and (parts[2].startswith("tier-") or parts[2] == layout.RETIRED)


def texts_of(root: Path) -> list[Path]:
    """List the files that hold what people and agents wrote: all but summaries."""
    return [path for path in markdown(root, layout.MODELS, *layout.SHAPES) if not is_made(path, root)]


def notes_of(root: Path) -> list[Path]:
    """List the notes that a person may change: no summaries, cards, embeds or conflict copies."""
    return [path for path in texts_of(root) if _is_note(path, root)]


def _is_note(path: Path, root: Path) -> bool:
    if path.relative_to(root).parts[0] != layout.MODELS or layout.is_conflict_copy(path.name):
        return False
    text = read(path)
    return "type: model" not in text and "![[" not in text


def read(path: Path) -> str:
    """Give a file's text, also of one that is cut off within a letter."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def lines_of(path: Path) -> list[str]:
    """Give the lines of a file."""
    return read(path).splitlines()


def split(text: str) -> tuple[str, list[str]]:
    """Take a note apart: front matter, and the lines below it."""
    if not text.startswith("---\n"):
        return "", text.splitlines()
    head, mark, body = text[4:].partition("---\n")
    return f"---\n{head}{mark}", body.splitlines()


def conflict_copies(root: Path) -> list[Path]:
    """List the conflict copies."""
    return [path for path in markdown(root, layout.MODELS, *layout.SHAPES) if layout.is_conflict_copy(path.name)]


# What the store is asked for


def record(world: World, machine: Machine) -> None:
    """An agent writes a note, now and then into two models."""
    models = machine.memory.census.models()
    chosen = world.random.sample(models, min(len(models), world.random.choice((1, 1, 1, 1, 1, 2))))
    text = world.text(machine.name)
    made = machine.memory.record(text, chosen)
    world.home.update(dict.fromkeys(text.splitlines(), made.handle))
    machine.date(machine.root / made.path)
    world.counts["notes recorded"] += 1


def advance(world: World, machine: Machine) -> None:
    """Growth: all that is due, or a little of it."""
    done = machine.memory.advance(limit=world.random.choice((None, None, 1, 2)))
    assert done.failed == (), done.failed
    world.counts["losers retired"] += len(done.retired)


def redo(world: World, machine: Machine) -> None:
    """A person has a summary written again; one of the newest, so that two machines meet."""
    machine.memory.census.refresh()
    found = [
        summary
        for model in machine.memory.census.models()
        for summary in machine.memory.census.now(model).state.active.values()
    ]
    found.sort(key=lambda summary: (summary.created, summary.handle))
    if found:
        with suppress(RefusedWrite):  # a source was revised since, and nobody keeps that version
            for _ in machine.memory.redo(world.random.choice(found[-4:]).handle):
                world.counts["summaries redone"] += 1


def propose(world: World, machine: Machine) -> None:
    """An agent proposes a record."""
    confidence = world.random.choice((0.6, 0.7, 0.9))
    if world.random.random() < 0.5:
        machine.memory.propose(
            "entity", f"Ferry {world.number()}", about=world.line(machine.name), confidence=confidence
        )
    else:
        machine.memory.propose("procedure", world.line(machine.name), confidence=confidence)
    world.counts["records proposed"] += 1


def _some_record(world: World, machine: Machine) -> str:
    """Choose one of the newest records: several people look at the same ones."""
    found = [
        path for path in markdown(machine.root, "entities", "procedures") if not layout.is_conflict_copy(path.name)
    ]
    found.sort(key=lambda path: [int(number) for number in _NUMBER.findall(read(path))][-1:])
    return world.random.choice(found[-6:]).stem if found else ""


def confirm(world: World, machine: Machine) -> None:
    """A person says yes."""
    if handle := _some_record(world, machine):
        with suppress(RefusedWrite):  # its file is cut off just now
            world.counts["records confirmed"] += len(machine.memory.confirm([handle]))


def reject(world: World, machine: Machine) -> None:
    """A person says no."""
    if handle := _some_record(world, machine):
        with suppress(RefusedWrite):
            world.counts["records rejected"] += len(machine.memory.reject([handle]))


def prune(world: World, machine: Machine) -> None:
    """What nobody confirmed in time is pruned."""
    with suppress(RefusedWrite):
        world.counts["records pruned"] += len(machine.memory.prune())


def save_session(world: World, machine: Machine) -> None:
    """A session's digest is saved, or goes on, perhaps on another machine."""
    number = world.counts["sessions"] if world.random.random() < 0.4 else world.counts["sessions"] + 1
    world.counts["sessions"] = number
    topics = world.random.sample(("Night ferry", "Garden"), world.random.choice((0, 1, 2)))
    text, started = world.text(machine.name), START + timedelta(minutes=number)
    try:
        machine.memory.save_session(text, topics, session=f"session-{number}", started=started)
    except RefusedWrite:  # its file is cut off just now
        world.take_back(text.splitlines())


# What a person does in an editor or a file manager


def write(world: World, machine: Machine) -> None:
    """A person drops a new note in."""
    model = world.random.choice(machine.memory.census.models())
    folder = world.random.choice(("", "trips", "trips/far"))
    path = machine.root / "models" / model / folder / f"Of the day {world.number()}.md"
    text = world.text(machine.name)
    world.home.update(dict.fromkeys(text.splitlines(), path.stem))
    machine.write(path, f"{world.random.choice(HEADS)}{text}\n")
    world.counts["notes of persons"] += 1


def keep_a_diary(world: World, machine: Machine) -> None:
    """A person writes on in the note of the day, whose name is the same on every machine."""
    model = world.random.choice(machine.memory.census.models())
    path = machine.root / "models" / model / "diary" / f"{machine.clock():%Y-%m-%d}.md"
    before = read(path) if path.exists() else ""
    world.touched.update(before.splitlines())
    machine.write(path, f"{before}{world.text(machine.name)}\n")
    world.counts["diary entries"] += 1


def edit(world: World, machine: Machine) -> None:
    """A person changes a note: adds a line above or below, or replaces one."""
    found = notes_of(machine.root)
    if not found:
        return
    path = world.random.choice(found[-8:] if world.random.random() < 0.6 else found)
    head, lines = split(read(path))
    world.touched.update(lines)
    new = world.line(machine.name)
    world.home[new] = path.stem
    at = world.random.randrange(len(lines)) if lines else 0
    match world.random.choice(("below", "above", "instead")):
        case "below":
            lines = [*lines, new]
        case "above":
            lines = [new, *lines]
        case _:
            world.take_back(lines[at : at + 1])
            world.instead.add(new)
            lines = [*lines[:at], new, *lines[at + 1 :]]
    machine.write(path, head + "".join(f"{line}\n" for line in lines))
    world.counts["notes edited"] += 1


def move(world: World, machine: Machine) -> None:
    """A person moves a note to another folder of its model."""
    found = notes_of(machine.root)
    if not found:
        return
    path = world.random.choice(found)
    model = path.relative_to(machine.root).parts[1]
    to = machine.root / "models" / model / world.random.choice(("trips", "trips/far", "kept")) / path.name
    if not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        world.touched.update(lines_of(path))
        path.rename(to)
        world.counts["notes moved"] += 1


def delete(world: World, machine: Machine) -> None:
    """A person deletes a note."""
    found = notes_of(machine.root)
    if not found:
        return
    path = world.random.choice(found)
    _throw_away(world, machine, path)
    path.unlink()
    world.counts["notes deleted"] += 1


def _throw_away(world: World, machine: Machine, path: Path) -> None:
    text = read(path)
    world.take_back(text.splitlines())
    world.bin.append((path.relative_to(machine.root).as_posix(), text))


def forget(world: World, machine: Machine) -> None:
    """A person has a note forgotten."""
    found = notes_of(machine.root)
    if not found:
        return
    path = world.random.choice(found)
    lines, handle = lines_of(path), path.relative_to(machine.root).as_posix()[:-3]
    if not read(path).endswith("\n"):  # it is cut off just now
        return
    with suppress(UsageError, RefusedWrite, NoSuchHandle):  # it was forgotten before
        _throw_away(world, machine, path)
        machine.memory.forget(handle)
        world.forgotten.update(line for line in lines if line in world.said)
        world.counts["notes forgotten"] += 1


def restore(world: World, machine: Machine) -> None:
    """A person brings something back from an old backup."""
    if not world.bin:
        return
    name, text = world.random.choice(world.bin[-6:])
    path = machine.root / name
    if not path.exists() and machine.root.joinpath(*name.split("/")[:2]).is_dir():
        machine.write(path, text)
        world.touched.update(text.splitlines())
        world.counts["notes restored"] += 1


def rename_model(world: World, machine: Machine) -> None:
    """A person gives a model another name."""
    name = world.random.choice(machine.memory.census.models())
    machine.memory.rename_model(name, f"{name.split(' ')[0]} {world.number()}")
    world.counts["models renamed"] += 1


def settle_conflict(world: World, machine: Machine) -> None:
    """A person takes over what only a conflict copy holds, and deletes it."""
    found = [path for path in conflict_copies(machine.root) if not is_made(path, machine.root)]
    if not found:
        return
    copy = world.random.choice(found)
    beside = original_of(copy)
    head, lines = split(read(beside) if beside.exists() else read(copy))
    _, theirs = split(read(copy))
    machine.write(beside, head + "".join(f"{line}\n" for line in dict.fromkeys([*lines, *theirs])))
    copy.unlink()
    world.counts["conflict copies settled"] += 1


def original_of(copy: Path) -> Path:
    """Give the path of the file that a conflict copy is one of."""
    stem = copy.stem.partition(".sync-conflict-")[0].rpartition(" (")[0] or copy.stem.partition(".sync-conflict-")[0]
    return copy.with_name(f"{stem}.md")


def lose_cache(world: World, machine: Machine) -> None:
    """All that is derived is gone: another process, an empty cache folder."""
    machine.close()
    if world.random.random() < 0.5:
        shutil.rmtree(machine.root.parent / f"{machine.root.name}-cache", ignore_errors=True)


Step = tuple[float, "Callable[[World, Machine], None]"]
STEPS: dict[str, Step] = {
    "record": (30, record),
    "advance": (8, advance),
    "redo": (2, redo),
    "propose": (4, propose),
    "confirm": (3, confirm),
    "reject": (2, reject),
    "prune": (2, prune),
    "save_session": (4, save_session),
    "write": (6, write),
    "keep_a_diary": (4, keep_a_diary),
    "edit": (10, edit),
    "move": (2, move),
    "delete": (1, delete),
    "forget": (1, forget),
    "restore": (1, restore),
    "rename_model": (0, rename_model),
    "settle_conflict": (2, settle_conflict),
    "lose_cache": (1, lose_cache),
}
"""What a step may be, and how often."""
