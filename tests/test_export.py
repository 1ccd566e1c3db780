"""The vault in one file: lines that `import jsonl` takes back without a loss, and an archive that was read back."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
import subprocess
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramid_fs import Memory, cli, exporting, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 11, 29, 20, 15, 30, 123456, tzinfo=UTC)
OLD = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def environ(folder: Path) -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(folder / "cache"), "PYRAMID_CONFIG": str(folder / "config.toml")}


def opened(root: Path) -> Memory:
    return Memory(root, environ=environ(root.parent), clock=lambda: NOW)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "work": "Projects."})
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "there").mkdir()
    vault.make_vault(tmp_path / "there" / "vault", models={})
    with opened(tmp_path / "there" / "vault") as memory:
        yield memory


def put(root: Path, path: str, data: str | bytes, at: datetime = OLD) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(root / path, (at.timestamp(), at.timestamp()))


def fill(memory: Memory, root: Path) -> None:
    """Put in notes of every kind that a person or an agent leaves."""
    memory.record("Rain over the harbour.", ["alice"], source="chat:7", created=OLD)
    memory.record("Lamps are due on Friday.", ["alice", "work"])
    memory.record("---\nA text that begins like front matter.", ["work"])
    put(root, "models/alice/Kitchen.md", "The sink drips; see [[Tea]].\r\n")
    put(
        root,
        "models/alice/Tea.md",
        "---\n# mine\ntitle: 'Tea'\ntags: [hot, green]\n---\n\n\n  Green tea.\n\nTwo cups.\n\n",
    )
    put(root, "models/alice/2025-02-03 walk.md", "---\nmood: calm\n---\nA walk.")
    put(root, "models/alice/date.md", "---\ndate: 2025-01-02\nsource: diary\n---\nA bare date.")
    put(root, "models/work/title.md", "---\ntitle: Only a title\n---\n")
    put(root, "models/work/same one.md", "---\ncreated: 2025-01-02\n---\nThe same text.")
    put(root, "models/work/same two.md", "---\ncreated: 2025-01-02\n---\nThe same text.")
    put(root, "models/work/C# tips.md", "Use records.")
    put(root, "models/work/embed.md", "![[Tea]]")


def notes(memory: Memory) -> list[tuple[Any, ...]]:
    """Give every note of every model: its model, date, digest, source, text, title."""
    memory.census.refresh()
    found = []
    for model in memory.census.models():
        for note in memory.census.now(model).state.notes:
            page = memory.vault.page(note.text_path or note.path)
            found.append((model, note.created, note.digest, note.source, page.body, page.text("title"), note.chars))
    return sorted(found)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


# Lines


def test_a_line_says_all_of_a_note_and_the_oldest_comes_first(memory: Memory, root: Path, tmp_path: Path) -> None:
    fill(memory, root)
    found = memory.export_jsonl(tmp_path / "out.jsonl")
    got = lines(tmp_path / "out.jsonl")
    assert (found.notes, found.others, found.problems) == (len(got), 0, [])
    assert len(got) == 11
    assert [line["created"] for line in got] == sorted(line["created"] for line in got)
    rain = next(line for line in got if line["text"].startswith("Rain"))
    assert list(rain) == ["kind", "handle", "models", "created", "source", "digest", "text"]
    assert (rain["kind"], rain["models"], rain["created"], rain["source"]) == (
        "note", ["alice"], "2024-05-06T07:08:09Z", "chat:7",
    )  # fmt: skip
    assert rain["digest"] == pages.digest(rain["text"])
    assert next(line for line in got if line["text"].startswith("Lamps"))["models"] == ["alice", "work"]
    tea = next(line for line in got if line["handle"] == "Tea")
    assert tea["models"] == ["alice", "work"]
    assert tea["front"] == "# mine\ntitle: 'Tea'\ntags: [hot, green]\n"
    first = (tmp_path / "out.jsonl").read_bytes()
    memory.export_jsonl(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == first


def test_what_was_exported_comes_back_without_a_loss(memory: Memory, root: Path, other: Memory, tmp_path: Path) -> None:
    fill(memory, root)
    memory.export_jsonl(tmp_path / "out.jsonl")
    found = other.import_jsonl(tmp_path / "out.jsonl")
    assert (found.read, found.notes, found.bad) == (11, 11, [])
    assert notes(other) == notes(memory)
    assert other.verify().balances
    assert (
        (other.vault.root / "models/alice/2024-05/Tea.md")
        .read_text()
        .startswith("---\n# mine\ntitle: 'Tea'\ntags: [hot")
    )
    other.export_jsonl(tmp_path / "back.jsonl")
    kept = ("kind", "models", "created", "source", "digest", "text")
    strip = [{key: line.get(key) for key in kept} for line in lines(tmp_path / "out.jsonl")]
    assert [{key: line.get(key) for key in kept} for line in lines(tmp_path / "back.jsonl")] == strip
    names = {line["handle"] for line in lines(tmp_path / "out.jsonl")} - {"C# tips"}  # no link to it holds
    assert names <= {line["handle"] for line in lines(tmp_path / "back.jsonl")}
    again = other.import_jsonl(tmp_path / "out.jsonl")
    assert (again.notes, again.known) == (0, 11)


def test_taken_back_where_it_was_exported_it_adds_nothing(memory: Memory, root: Path, tmp_path: Path) -> None:
    fill(memory, root)
    memory.export_jsonl(tmp_path / "out.jsonl", everything=True)
    before = sorted(path for path in root.rglob("*"))
    found = memory.import_jsonl(tmp_path / "out.jsonl")
    assert (found.notes, found.known) == (0, 11)
    assert sorted(path for path in root.rglob("*")) == before


def test_what_was_forgotten_here_does_not_come_back_with_an_old_export(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    fill(memory, root)
    memory.export_jsonl(tmp_path / "out.jsonl")
    (root / "models/alice/Kitchen.md").unlink()
    forgot = hashlib.sha256(b"Kitchen").hexdigest()
    stone = {"forgot": forgot, "digest": pages.digest("The sink drips; see [[Tea]]."), "at": "2026-11-29"}
    (root / "ledger" / "another.jsonl").write_text(json.dumps(stone) + "\n")
    found = memory.import_jsonl(tmp_path / "out.jsonl")
    assert (found.notes, found.known, found.left_out) == (0, 10, {"notes that were forgotten here": 1})
    assert not list(root.rglob("*itchen*"))


@settings(max_examples=10)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
            st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        ),
        max_size=5,
    )
)
def test_any_text_source_and_time_comes_back(given: list[tuple[str, str, datetime]]) -> None:
    with TemporaryDirectory() as name:
        vault.make_vault(Path(name, "a", "vault"), models={"alice": ""})
        vault.make_vault(Path(name, "b", "vault"), models={})
        with opened(Path(name, "a", "vault")) as one, opened(Path(name, "b", "vault")) as two:
            for text, source, created in given:
                if text.strip():
                    one.record(text, ["alice"], source=source, created=created)
            out = io.BytesIO()
            one.export_jsonl(out)
            found = two.import_jsonl(io.BytesIO(out.getvalue()))
            assert found.bad == []
            assert notes(two) == notes(one)


def test_all_kinds_follow_the_notes_in_a_fixed_order(memory: Memory, root: Path, other: Memory, tmp_path: Path) -> None:
    for number in range(12):
        memory.record(f"On day {number} the ferry {number * 7} left Lyon at noon.", ["alice"])
    memory.advance()
    memory.add_topic("Harbour walks")
    memory.save_session("We walked along the harbour.", ["Harbour walks"], session="s1")
    memory.add_entity("Mira Vesely", "person")
    memory.add_procedure("Ask before buying lamps.")
    found = memory.export_jsonl(tmp_path / "out.jsonl", everything=True)
    got = lines(tmp_path / "out.jsonl")
    kinds = list(dict.fromkeys(line["kind"] for line in got))
    assert kinds == ["note", "model", "summary", "topic", "session", "entity", "procedure"]
    assert (found.notes, found.others) == (12, len(got) - 12)
    (summary,) = (line for line in got if line["kind"] == "summary")
    assert (summary["model"], summary["tier"], summary["note_count"], len(summary["sources"])) == ("alice", 0, 10, 10)
    assert "summarizer" in summary["front"]
    back = other.import_jsonl(tmp_path / "out.jsonl")
    assert (back.notes, back.skipped, back.bad) == (12, len(got) - 12, [])
    assert back.read == back.notes + back.known + back.skipped
    assert back.left_out["lines of the kind summary"] == 1


def test_notes_with_a_problem_are_exported_as_they_can_be_read(
    memory: Memory, root: Path, other: Memory, tmp_path: Path
) -> None:
    put(root, "models/alice/latin.md", b"caf\xe9")
    put(root, "models/alice/broken.md", "---\na: [\n---\nStill text.")
    put(root, "models/alice/when.md", "---\ncreated: yesterday\n---\nSome time.")
    put(root, "models/alice/gone.md", "![[nowhere]]")
    put(root, "models/alice/nul.md", b"nul\0")
    found = memory.export_jsonl(tmp_path / "out.jsonl")
    assert (found.notes, len(found.problems)) == (5, 5)
    back = other.import_jsonl(tmp_path / "out.jsonl")
    assert (back.notes, len(back.bad)) == (4, 1)
    assert {note[4] for note in notes(other)} >= {"caf\xe9", "Still text.", "Some time.", "![[nowhere]]"}
    (broken,) = (other.vault.root / "models").rglob("broken.md")
    assert broken.read_text() == "---\na: [\n---\nStill text.\n"


EMPTY = {
    "nothing.md": "---\n---\n",
    "blank lines.md": "---\n\n---\n \n\t\n",
    "windows.md": "---\r\n---\r\n\r\n",
    "comment.md": "---\n# later\n---",
    "tags.md": "---\ntags: [a]\n---\n",
    "as recorded.md": "---\ncreated: 2025-01-02T03:04:05Z\n---\n",
    "with source.md": '---\ncreated: 2025-01-02T03:04:05Z\nsource: "chat:7"\n---\n\n',
}
"""Notes that hold front matter alone."""


@pytest.mark.parametrize("everything", [False, True])
def test_notes_without_a_text_come_back_as_they_are(
    memory: Memory,
    root: Path,
    other: Memory,
    tmp_path: Path,
    everything: bool,  # noqa: FBT001
) -> None:
    for name, data in EMPTY.items():
        put(root, f"models/alice/{name}", data)
    put(root, "models/work/shown.md", "![[nothing]]")
    put(root, "models/alice/no note.md", " \n\n")
    found = memory.export_jsonl(tmp_path / "out.jsonl", everything=everything)
    assert (found.notes, found.problems) == (len(EMPTY), [])
    back = other.import_jsonl(tmp_path / "out.jsonl")
    assert (back.notes, back.bad) == (len(EMPTY), [])
    assert notes(other) == notes(memory)
    assert other.verify().balances
    other.export_jsonl(tmp_path / "back.jsonl", everything=everything)
    kept = ("handle", "models", "created", "source", "digest", "text")
    first, second = (
        [{key: line.get(key) for key in kept} for line in lines(tmp_path / name) if line["kind"] == "note"]
        for name in ("out.jsonl", "back.jsonl")
    )
    assert first == second
    for place, path in ((other, "out.jsonl"), (other, "back.jsonl"), (memory, "out.jsonl"), (memory, "back.jsonl")):
        again = place.import_jsonl(tmp_path / path)
        assert (again.notes, again.known, again.bad) == (0, len(EMPTY), [])


def test_a_note_of_which_nothing_can_be_read_is_left_out_and_said(
    memory: Memory, root: Path, other: Memory, tmp_path: Path
) -> None:
    put(root, "models/alice/wide.md", b"\xff\xfe")
    put(root, "models/alice/Tea.md", "Green tea.")
    found = memory.export_jsonl(tmp_path / "out.jsonl", everything=True)
    assert found.notes == 1
    (said,) = found.problems
    assert said.startswith("models/alice/wide.md: its encoding is UTF-16")
    assert said.endswith("nothing of it could be read, so it is not in the export")
    assert other.import_jsonl(tmp_path / "out.jsonl").bad == []


def test_front_matter_from_elsewhere_can_t_pass_for_a_text_or_leave_the_vault(other: Memory, tmp_path: Path) -> None:
    base = {"kind": "note", "models": ["bob"], "created": "2026-01-02T03:04:05Z"}
    entries = [
        {**base, "text": "One", "front": "a: b\n---\nsmuggled\n"},
        {**base, "text": "Two", "handle": "../../outside"},
        {**base, "text": "Three", "handle": "bob"},
        {**base, "text": "Four", "handle": "CON"},
        {**base, "text": "Five", "handle": 5},
        {**base, "text": "Six", "front": ["a"]},
        {**base, "text": "Seven", "handle": "x\0"},
        {**base, "text": " "},
        {**base, "front": ""},
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    found = other.import_jsonl(path)
    assert [line.split(":")[0] for line in found.bad] == [f"line {number}" for number in (1, 5, 6, 7, 8, 9)]
    assert sorted(note[4] for note in notes(other)) == ["Four", "Three", "Two"]
    assert sorted(p.name for p in other.vault.root.parent.iterdir()) == ["cache", "vault"]
    assert other.verify().balances


def test_a_forgotten_name_that_is_taken_here_gets_another(other: Memory, tmp_path: Path) -> None:
    put(other.vault.root, "models/bob/Tea.md", "My own tea.")
    path = tmp_path / "in.jsonl"
    line = {"kind": "note", "handle": "Tea", "models": ["bob"], "created": "2026-01-02T03:04:05Z", "text": "Their tea."}
    path.write_text(json.dumps(line) + "\n")
    assert other.import_jsonl(path).notes == 1
    assert len(list((other.vault.root / "models").rglob("Tea.md"))) == 1
    assert other.import_jsonl(path).known == 1


def test_a_file_that_is_there_is_kept_unless_forced_and_a_failure_leaves_no_trace(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    fill(memory, root)
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "x.jsonl"
    out.write_text("mine")
    for run in (memory.export_jsonl, lambda path: memory.export_archive(path.with_suffix(".zip"))):
        out.with_suffix(".zip").write_text("mine")
        with pytest.raises(ExistsAlready, match="--force"):
            run(out)
    assert out.read_text() == out.with_suffix(".zip").read_text() == "mine"

    def fail(done: int, total: int) -> None:
        raise DiskError("no more")

    with pytest.raises(DiskError):
        memory.export_jsonl(out, force=True, step=fail)
    assert sorted(path.name for path in out.parent.iterdir()) == ["x.jsonl", "x.zip"]
    assert out.read_text() == "mine"
    memory.export_jsonl(out, force=True)
    assert len(lines(out)) == 11


def test_places_that_hold_no_export_are_refused(memory: Memory, root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    (tmp_path / "folder.zip").mkdir()
    for place, word in {
        root / "x.zip": "in the vault",
        tmp_path / "alias" / "x.zip": "in the vault",
        root / "models" / "alice" / "x.zip": "in the vault",
        tmp_path / "gone" / "x.zip": "no folder",
        tmp_path / "folder.zip": "is a folder",
        tmp_path / "x.rar": r"\.tar\.gz or \.zip",
    }.items():
        with pytest.raises(UsageError, match=word):
            memory.export_archive(place)
    with pytest.raises(UsageError, match="in the vault"):
        memory.export_jsonl(root / "x.jsonl")
    assert not list(root.glob("*x*"))


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_file_is_refused_and_stays(memory: Memory, tmp_path: Path, force: bool) -> None:  # noqa: FBT001
    (tmp_path / "out").mkdir()
    pipe, link, ring = (tmp_path / "out" / name for name in ("pipe.zip", "link.zip", "ring.zip"))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    ring.symlink_to(ring)
    for place in (pipe, link, ring):
        for run in (memory.export_jsonl, memory.export_archive):
            with pytest.raises(RefusedWrite, match="give the name of a file"):
                run(place, force=force)
    assert pipe.is_fifo()
    assert link.readlink() == pipe
    assert len(list(pipe.parent.iterdir())) == 3


def test_a_link_is_followed_and_stays_one(memory: Memory, root: Path, tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    link, file = tmp_path / "here" / "x.zip", tmp_path / "there" / "y.zip"
    link.symlink_to(file)
    for before in (None, "mine"):  # a link to nothing is taken, too
        if before:
            file.write_text(before)
        with pytest.raises(ExistsAlready):
            memory.export_jsonl(link)
        memory.export_jsonl(link, force=True)
        assert link.readlink() == file
        assert lines(file) == []
        memory.export_archive(link, force=True)
        assert zipfile.is_zipfile(file)
    assert [path.name for path in file.parent.iterdir()] == ["y.zip"]
    link.unlink()
    link.symlink_to(root / "x.zip")
    with pytest.raises(UsageError, match="in the vault"):
        memory.export_archive(link, force=True)
    with pytest.raises(DiskError, match="name too long"):
        memory.export_archive(tmp_path / f"{'x' * 300}.zip")


# The archive

NAMES = ["x.tar.gz", "x.tgz", "x.zip"]


def unpack(path: Path, into: Path) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as made:
            made.extractall(into)
    else:
        subprocess.run(["tar", "xzf", str(path), "-C", str(into)], check=True)
    return into / "vault"


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_holds_the_files_as_they_stand_and_verifies_where_it_is_unpacked(
    memory: Memory, root: Path, tmp_path: Path, name: str
) -> None:
    fill(memory, root)
    put(root, ".obsidian/app.json", "{}")
    put(root, ".git/config", "[core]")
    put(root, "models/alice/.pyramid-0123456789ab.tmp", "half")
    put(root, "models/alice/Näh 日本.md", "Sewing.")
    put(root, "models/alice/empty.bin", b"")
    (root / "models" / "alice" / "link.md").symlink_to(tmp_path / "config.toml")
    (root / "far").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    told: list[tuple[int, int]] = []
    found = memory.export_archive(tmp_path / name, step=lambda done, total: told.append((done, total)))
    wanted = {path: data for path, data in contents(root).items() if not path.startswith(".git/")}
    wanted = {
        path: data for path, data in wanted.items() if not path.endswith((".tmp", "link.md")) and "far/" not in path
    }
    (tmp_path / "there").mkdir()
    there = unpack(tmp_path / name, tmp_path / "there")
    assert contents(there) == wanted
    assert found.files == len(wanted) == told[-1][0] == told[-1][1]
    assert found.bytes == sum(map(len, wanted.values()))
    assert sorted(found.left) == ["far", "models/alice/link.md", "pipe"]
    with opened(root) as here, opened(there) as copy:
        assert copy.verify().balances
        if not name.endswith(".zip"):  # Python's own unzipping sets no times
            assert notes(copy) == notes(here)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_vault_gives_the_same_bytes(memory: Memory, root: Path, tmp_path: Path, name: str) -> None:
    fill(memory, root)
    os.utime(root / "models/alice/Tea.md", ns=(0, 1_700_000_000_123_456_789))
    put(root, "models/alice/ancient.md", "Old.", datetime(1970, 1, 2, tzinfo=UTC))
    memory.export_archive(tmp_path / f"one-{name}")
    memory.export_archive(tmp_path / f"two-{name}")
    assert (tmp_path / f"one-{name}").read_bytes() == (tmp_path / f"two-{name}").read_bytes()
    if not name.endswith(".zip"):
        assert (tmp_path / f"one-{name}").read_bytes()[4:8] == bytes(4)  # no time of its own
    (tmp_path / "there").mkdir()
    tea = unpack(tmp_path / f"one-{name}", tmp_path / "there") / "models/alice/Tea.md"
    if not name.endswith(".zip"):
        assert tea.stat().st_mtime_ns == 1_700_000_000_123_456_789
        return
    with zipfile.ZipFile(tmp_path / f"one-{name}") as made:
        info = made.getinfo("vault/models/alice/Tea.md")
        assert struct.unpack("<HHBi", info.extra) == (0x5455, 5, 1, 1_700_000_000)
        assert made.getinfo("vault/models/alice/ancient.md").date_time == (1980, 1, 1, 0, 0, 0)


def test_the_repository_comes_only_where_it_is_asked_for(memory: Memory, root: Path, tmp_path: Path) -> None:
    put(root, ".git/hooks/pre-push", "#!/bin/sh\n")
    (root / ".git/hooks/pre-push").chmod(0o755)
    without = memory.export_archive(tmp_path / "a.tar.gz").files
    assert memory.export_archive(tmp_path / "b.tar.gz", with_git=True).files == without + 1
    with tarfile.open(tmp_path / "b.tar.gz") as made:
        assert made.getmember("vault/.git/hooks/pre-push").mode == 0o755
        names = made.getnames()
    assert names == sorted(names)


def test_a_large_file_is_streamed_and_one_that_was_cut_off_is_no_archive(
    memory: Memory, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "HELD", 1000)
    put(root, "film.bin", bytes(range(256)) * 5000)
    for name in ("a.tar.gz", "a.zip"):
        memory.export_archive(tmp_path / name)
        (tmp_path / f"in {name}").mkdir()
        assert contents(unpack(tmp_path / name, tmp_path / f"in {name}"))["film.bin"] == bytes(range(256)) * 5000

    class Shrinking(exporting._Hashed):
        def read(self, size: int = -1) -> bytes:
            return b"" if self.sum.digest() != hashlib.sha256().digest() else super().read(min(size, 100))

    monkeypatch.setattr(exporting, "_Hashed", Shrinking)
    for name in ("b.tar.gz", "b.zip"):
        with pytest.raises(DiskError, match="cut off"):
            memory.export_archive(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_a_file_that_goes_meanwhile_is_told_and_one_that_grows_is_whole(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    put(root, "models/alice/b.md", "Goes.")
    put(root, "models/alice/a.md", "First.")
    put(root, "models/alice/c.md", "Grows.")

    def meddle(done: int, total: int) -> None:
        (root / "models/alice/b.md").unlink(missing_ok=True)
        (root / "models/alice/c.md").write_text("Grows and grows.")

    found = memory.export_archive(tmp_path / "x.tar.gz", step=meddle)
    assert found.gone == 1
    with tarfile.open(tmp_path / "x.tar.gz") as made:
        grown = made.extractfile("vault/models/alice/c.md")
        assert grown is not None
        assert grown.read() == b"Grows and grows."
        assert "vault/models/alice/b.md" not in made.getnames()


def test_an_archive_that_does_not_hold_what_was_read_is_never_put_in_place(
    memory: Memory, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory, root)
    check = exporting._check
    breaks: list[Callable[[bytes], bytes]] = [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-30] + bytes(30),
        lambda data: gzip.compress(gzip.decompress(data).replace(b"over the harbour", b"OVER the harbour")),
        lambda data: gzip.compress(b""),
    ]
    for broken in breaks:

        def spoil(path: Path, digests: dict[str, bytes], *, as_zip: bool, by: Any = broken) -> None:
            path.write_bytes(by(path.read_bytes()))
            check(path, digests, as_zip=as_zip)

        monkeypatch.setattr(exporting, "_check", spoil)
        with pytest.raises(DiskError, match="nothing was kept"):
            memory.export_archive(tmp_path / "x.tar.gz")
        assert not list(tmp_path.glob("*.tar.gz"))
        assert not list(tmp_path.glob(".pyramid-*"))


def test_a_name_that_is_not_utf_8_goes_into_a_tar(memory: Memory, root: Path, tmp_path: Path) -> None:
    try:
        (root / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("this disk holds no such name")
    memory.export_archive(tmp_path / "x.tar.gz")
    with tarfile.open(tmp_path / "x.tar.gz") as made:
        assert any(name.endswith(os.fsdecode(b"caf\xe9.txt")) for name in made.getnames())
    with pytest.raises(DiskError, match=r"tar\.gz"):
        memory.export_archive(tmp_path / "x.zip")


# From the command line


@pytest.fixture
def shell(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environ(root.parent).items():
        monkeypatch.setenv(name, value)
    return root


def run(root: Path, capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, bytes, str]:
    code = cli.run(["--vault", str(root), *words])
    out, err = capsysbinary.readouterr()
    return code, out, err.decode()


def test_the_verbs_write_where_they_are_told(
    shell: Path, memory: Memory, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    fill(memory, shell)
    code, out, err = run(shell, capsysbinary, "export", "jsonl", str(tmp_path / "out.jsonl"))
    assert (code, out.decode(), err) == (0, f"11 notes are in {tmp_path / 'out.jsonl'}.\n", "")
    code, out, err = run(shell, capsysbinary, "export", "jsonl", "-", "--all")
    assert code == 0
    assert b"".join(out.splitlines(keepends=True)[:11]) == (tmp_path / "out.jsonl").read_bytes()
    assert err.startswith("11 notes and 2 other files")
    code, _, err = run(shell, capsysbinary, "export", "jsonl", str(tmp_path / "out.jsonl"))
    assert code == 22
    code, out, err = run(shell, capsysbinary, "export", "archive", str(tmp_path / "v.tar.gz"))
    assert (code, err) == (0, "")
    assert out.endswith(b"and were read back.\n")
    code, _, err = run(shell, capsysbinary, "export", "archive", str(shell / "v.tar.gz"))
    assert code == 2
    assert "name a place outside" in err


def test_exports_answer_in_json(
    shell: Path, memory: Memory, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    fill(memory, shell)
    path = str(tmp_path / "out.jsonl")
    code, out, _ = run(shell, capsysbinary, "export", "jsonl", path, "--all", "--json")
    written = {"notes": 11, "others": 2, "problems": 0}
    assert (code, json.loads(out)) == (0, {"vault": str(shell), "path": path, "written": written})
    code, out, err = run(shell, capsysbinary, "export", "jsonl", "-", "--all", "--json")
    assert (code, out) == (0, Path(path).read_bytes())
    assert err == "11 notes and 2 other files were written.\n"
    archive = tmp_path / "v.zip"
    code, out, _ = run(shell, capsysbinary, "export", "archive", str(archive), "--json")
    found = json.loads(out)
    assert (code, found["path"], found["written"]["gone"], found["written"]["left"]) == (0, str(archive), 0, 0)
    with zipfile.ZipFile(archive) as made:
        sizes = [each.file_size for each in made.infolist()]
    assert (found["written"]["files"], found["written"]["bytes"]) == (len(sizes), sum(sizes))
