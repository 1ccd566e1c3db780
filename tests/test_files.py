"""What reaches the disk is whole, synced in order, and never over another's; what can't be read is not gone."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import files
from pyramid_fs.errors import DiskError, ExistsAlready, Locked, Problem, RefusedWrite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_refused: dict[tuple[str, str], int] = {}


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if _refused and (number := _refused.get((event, str(args[0]) if args else ""), _refused.get((event, "*"), 0))):
        raise OSError(number, os.strerror(number), args[0])


sys.addaudithook(_refuse)


@pytest.fixture
def refused() -> Iterator[dict[tuple[str, str], int]]:
    """(Operation, path or *) → the error with which the system refuses it, for whoever asks: root too."""
    yield _refused
    _refused.clear()


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(script: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script of its own process to its end."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, words)], capture_output=True, text=True, check=False
    )


# Making a file


def test_a_file_is_made_whole_with_the_folders_above_it(tmp_path: Path) -> None:
    path = tmp_path / "models" / "alice" / "beans.md"
    files.create(path, b"Beans.\n")
    assert path.read_bytes() == b"Beans.\n"
    assert listing(path.parent) == ["beans.md"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o133 == 0


def test_a_file_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "beans.md"
    path.write_bytes(b"first")
    with pytest.raises(ExistsAlready, match="exists already"):
        files.create(path, b"second")
    assert path.read_bytes() == b"first"
    assert listing(tmp_path) == ["beans.md"]


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "beans.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ExistsAlready):
        files.create(tmp_path / "beans.md", b"text")
    assert listing(tmp_path) == ["beans.md"]


def test_of_many_who_make_one_name_at_once_one_does(tmp_path: Path) -> None:
    path, made = tmp_path / "beans.md", []
    start = threading.Barrier(8)

    def make(number: int) -> None:
        start.wait()
        try:
            files.create(path, bytes([number]) * 100_000)
            made.append(number)
        except ExistsAlready:
            pass

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert path.read_bytes() == bytes(made) * 100_000
    assert listing(tmp_path) == ["beans.md"]


ORDER = """
    import os, sys
    from pathlib import Path
    from pyramid_fs import files
    path, verb = Path(sys.argv[1]), sys.argv[2]
    seen, opened = [], []

    def name(path):
        found = os.path.basename(str(path))
        return "temp" if found.startswith(".pyramid-") else found

    def hook(event, args):
        if not watching:
            return
        if event == "open":
            opened.append(name(args[0]))
            if args[2] & os.O_EXCL:
                seen.append(f"make {name(args[0])}")
        elif event in {"os.link", "os.rename"}:
            seen.append(f"{event[3:]} {name(args[0])} {name(args[1])}")
        elif event in {"os.remove", "os.mkdir"}:
            seen.append(f"{event[3:]} {name(args[0])}")

    def profile(frame, event, called):
        if event == "c_call" and called.__name__ in {"write", "fsync"}:
            seen.append(f"{called.__name__} {opened[-1]}")

    watching = False
    sys.addaudithook(hook)
    work = {
        "create": lambda: files.create(path, b"text"),
        "replace": lambda: files.replace(path, b"new", b"old"),
        "move": lambda: files.move(path, path.parent / "retired" / path.name),
        "append": lambda: files.append(path, "line"),
    }[verb]
    watching = True
    sys.setprofile(profile)
    work()
    sys.setprofile(None)
    watching = False
    print(*seen, sep="\\n")
"""


@pytest.mark.parametrize(
    ("verb", "there", "order"),
    [
        ("create", None, ["make temp", "write temp", "fsync temp", "link temp beans.md", "remove temp", "fsync alice"]),
        ("replace", "old", ["make temp", "write temp", "fsync temp", "rename temp beans.md", "fsync alice"]),
        (
            "move",
            "old",
            [
                "mkdir retired",
                "fsync alice",
                "link beans.md beans.md",
                "remove beans.md",
                "fsync retired",
                "fsync alice",
            ],
        ),
        ("append", "old", ["write beans.md", "fsync beans.md"]),
    ],
)
def test_bytes_are_on_disk_before_the_name_is_and_the_name_before_the_answer(
    tmp_path: Path, verb: str, there: str | None, order: list[str]
) -> None:
    path = tmp_path / "alice" / "beans.md"
    path.parent.mkdir()
    if there:
        path.write_text(there)
    done = run(ORDER, path, verb)
    # a temp file that has its final name is removed by the old one in vain
    assert [line for line in done.stdout.splitlines() if verb != "replace" or line != "remove temp"] == order, (
        done.stderr
    )


def test_the_line_of_a_new_ledger_is_found_again_after_a_power_cut(tmp_path: Path) -> None:
    done = run(ORDER, tmp_path / "ledger" / "k3f9m2.jsonl", "append")
    seen = done.stdout.splitlines()
    assert seen[-1] == "fsync ledger", done.stderr
    assert seen.index("fsync k3f9m2.jsonl") < len(seen) - 1


FULL = """
    import resource, sys
    from pathlib import Path
    from pyramid_fs import files
    from pyramid_fs.errors import PyramidError
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    path = Path(sys.argv[1])
    try:
        if path.exists():
            files.replace(path, b"x" * 1_000_000, b"old")
        else:
            files.create(path, b"x" * 1_000_000)
    except PyramidError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_write_that_the_disk_cuts_off_leaves_no_trace(tmp_path: Path, old: bytes | None) -> None:
    path = tmp_path / "beans.md"
    if old:
        path.write_bytes(old)
    done = run(FULL, path)
    assert done.stdout == f"DiskError {path} can't be written: file too large\n", done.stderr
    assert [(name, (tmp_path / name).read_bytes()) for name in listing(tmp_path)] == (
        [("beans.md", old)] if old else []
    )


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_name_that_the_disk_refuses_leaves_no_trace(
    tmp_path: Path, refused: dict[tuple[str, str], int], number: int
) -> None:
    refused["os.link", "*"] = number
    with pytest.raises(DiskError, match="can't be written"):
        files.create(tmp_path / "beans.md", b"text")
    assert listing(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EINVAL, errno.EMLINK])
def test_a_disk_without_hard_links_does_too(tmp_path: Path, refused: dict[tuple[str, str], int], number: int) -> None:
    refused["os.link", "*"] = number
    path, to = tmp_path / "beans.md", tmp_path / "retired" / "beans.md"
    files.create(path, b"text")
    with pytest.raises(ExistsAlready):
        files.create(path, b"other")
    assert listing(tmp_path) == ["beans.md"]
    files.move(path, to)
    files.create(path, b"second")
    with pytest.raises(ExistsAlready):
        files.move(path, to)
    assert (path.read_bytes(), to.read_bytes()) == (b"second", b"text")


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(DiskError, match=r"models.* can't be"):
        files.create(tmp_path / "models" / "alice" / "beans.md", b"text")


# Changing one


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666, 0o755])
def test_a_changed_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "alice.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    files.replace(path, b"new", b"old")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert listing(tmp_path) == ["alice.md"]


def test_a_file_that_is_not_as_it_was_read_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "alice.md"
    path.write_bytes(b"edited meanwhile")
    with pytest.raises(RefusedWrite, match="changed since it was read: nothing was written"):
        files.replace(path, b"new", b"old")
    assert [path.read_bytes(), listing(tmp_path)] == [b"edited meanwhile", ["alice.md"]]


def test_a_read_only_file_is_left_alone_also_by_root(tmp_path: Path) -> None:
    path = tmp_path / "alice.md"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(RefusedWrite, match="is read-only: nothing was written"):
        files.replace(path, b"new", b"old")
    assert [path.read_bytes(), listing(tmp_path)] == [b"old", ["alice.md"]]


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(RefusedWrite):
        files.replace(tmp_path / "alice.md", b"new", b"old")
    assert listing(tmp_path) == []


def test_a_move_never_lands_on_another_file(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_bytes(b"one")
    (tmp_path / "two.md").write_bytes(b"two")
    with pytest.raises(ExistsAlready):
        files.move(tmp_path / "one.md", tmp_path / "two.md")
    assert [(tmp_path / name).read_bytes() for name in listing(tmp_path)] == [b"one", b"two"]


def test_a_move_of_what_is_gone_already_is_done(tmp_path: Path) -> None:
    files.move(tmp_path / "one.md", tmp_path / "retired" / "one.md")
    assert listing(tmp_path / "retired") == []


def test_a_folder_is_never_renamed_over_another(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "note.md").write_text("Kept.")
    with pytest.raises(DiskError, match="can't be renamed"):
        files.rename_folder(tmp_path / "one", tmp_path / "two")
    assert listing(tmp_path) == ["one", "two"]


def test_appended_lines_of_many_processes_are_all_whole(tmp_path: Path) -> None:
    path = tmp_path / "k3f9m2.jsonl"
    script = """
        import sys
        from pathlib import Path
        from pyramid_fs import files
        for number in range(20):
            files.append(Path(sys.argv[1]), f"{sys.argv[2]}-{number}-" + "x" * 5000 + "\\n")
    """
    words = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    children = [subprocess.Popen([*words, str(number)]) for number in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    lines = [line for line in path.read_text().splitlines() if line]  # a blank one may end a line that was half seen
    assert {line.removesuffix("x" * 5000) for line in lines} == {f"{a}-{b}-" for a in range(3) for b in range(20)}
    assert len(lines) == 60


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "k3f9m2.jsonl"
    path.write_text('{"forgot": "9f86\n{"source": "a#1", "ma')
    files.append(path, '{"forgot": "60303ae"}\n')
    files.append(path, '{"source": "a#2"}\n')
    assert path.read_text().splitlines()[1:] == ['{"source": "a#1", "ma', '{"forgot": "60303ae"}', '{"source": "a#2"}']


# Looking


def test_a_walk_sees_the_markdown_and_nothing_of_tools_links_and_leftovers(tmp_path: Path) -> None:
    inside, outside = tmp_path / "vault" / "models", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("Not in the vault.")
    for name in ("alice/a.md", "alice/2026-11/b.MD", "alice/tier-0/c.md", "bob/näh.md"):
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / name).write_text("text")
    for name in ("alice/.obsidian/d.md", "alice/node_modules/e.md", "bob/.git/f.md", "bob/@eaDir/g.md"):
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / name).write_text("text")
    for name in (".hidden.md", "~$a.md", "a.md~", "b.txt", "c (conflicted copy 2026-11-29).md", ".md"):
        (inside / "alice" / name).write_text("text")
    (inside / "alice" / "folder.md").mkdir()
    (inside / "alice" / "linked.md").symlink_to(outside / "secret.md")
    (inside / "linked").symlink_to(outside, target_is_directory=True)
    (inside / "alice" / "round").symlink_to(inside, target_is_directory=True)
    shut: list[Problem] = []
    found = {seen.path: seen.sig for seen in files.walk(tmp_path / "vault", "models", shut)}
    assert sorted(found) == [
        f"models/{n}" for n in ("alice/2026-11/b.MD", "alice/a.md", "alice/tier-0/c.md", "bob/näh.md")
    ]
    assert shut == []
    assert found["models/alice/a.md"] == files.look(inside / "alice" / "a.md")
    assert files.look(inside / "alice" / "linked.md") is None
    assert files.subfolders(tmp_path / "vault", "models") == ["alice", "bob"]


def test_a_folder_that_can_not_be_read_is_named_and_the_rest_is_seen(
    tmp_path: Path, refused: dict[tuple[str, str], int]
) -> None:
    for name in ("alice/shut/a.md", "alice/open/b.md"):
        (tmp_path / "models" / name).parent.mkdir(parents=True)
        (tmp_path / "models" / name).write_text("text")
    refused["os.scandir", f"{tmp_path}/models/alice/shut"] = errno.EACCES
    shut: list[Problem] = []
    assert [seen.path for seen in files.walk(tmp_path, "models", shut)] == ["models/alice/open/b.md"]
    assert [(problem.path, problem.reason) for problem in shut] == [
        ("models/alice/shut", "the folder can't be read: permission denied")
    ]
    refused["os.scandir", f"{tmp_path}/models"] = errno.EIO
    with pytest.raises(DiskError, match="can't be read"):
        files.subfolders(tmp_path, "models")


def test_what_is_not_there_is_an_empty_listing_and_what_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file")
    assert files.names(tmp_path, "topics") == files.subfolders(tmp_path, "topics") == []
    for ask in (files.names, files.subfolders):
        with pytest.raises(DiskError, match="ledger can't be read: not a directory"):
            ask(tmp_path, "ledger")


def test_a_file_that_may_not_be_read_is_no_file_that_is_gone(
    tmp_path: Path, refused: dict[tuple[str, str], int]
) -> None:
    path = tmp_path / "a.md"
    path.write_text("text")
    refused["open", str(path)] = errno.EACCES
    with pytest.raises(DiskError, match=r"a\.md can't be read: permission denied"):
        files.read(path)
    for gone in (tmp_path / "b.md", path / "c.md", tmp_path):
        with pytest.raises(FileNotFoundError):
            files.read(gone)


def test_what_a_kill_left_is_swept_once_nobody_can_be_writing_it(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    for name, age in (
        (".pyramid-0123456789ab.tmp", 4000),
        (".pyramid-ba9876543210.tmp", 10),
        ("a.md", 9000),
        (".tmp", 9000),
    ):
        (folder / name).write_text("half")
        os.utime(folder / name, (time.time() - age,) * 2)
    files.sweep(tmp_path, ["models", "gone"])
    assert listing(folder) == [".pyramid-ba9876543210.tmp", ".tmp", "a.md"]


# Locks


def test_a_lock_is_waited_for_and_then_not_any_longer(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "grow.lock"
    with files.locked(path, 0.0):
        began = time.monotonic()
        with pytest.raises(Locked, match=r"grow\.lock"), files.locked(path, 0.1):
            pass
        assert 0.1 <= time.monotonic() - began < 5
    with files.locked(path, 0.0):
        pass


def test_a_lock_dies_with_the_process_that_held_it_and_its_words_stay(tmp_path: Path) -> None:
    path = tmp_path / "time.lock"
    script = """
        import sys, threading
        from pathlib import Path
        from pyramid_fs import files
        with files.locked(Path(sys.argv[1]), 0) as handle:
            files.write_handle(handle, "1234")
            print("held", flush=True)
            threading.Event().wait()
    """
    words = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            assert child.stdout.readline() == "held\n"
            with pytest.raises(Locked), files.locked(path, 0.0):
                pass
        finally:
            child.kill()
    with files.locked(path, 5.0) as handle:
        assert files.read_handle(handle) == "1234"
        files.write_handle(handle, "56")
        assert files.read_handle(handle) == "56"


def test_a_lock_that_is_given_up_in_time_is_got(tmp_path: Path) -> None:
    path, held, go = tmp_path / "time.lock", threading.Event(), threading.Event()

    def hold() -> None:
        with files.locked(path, 0.0):
            held.set()
            go.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(10)
    go.set()
    with files.locked(path, 10.0):
        pass
    thread.join()


# The folders of a person


def test_each_vault_has_its_own_folder_for_what_is_derived_outside_of_it(tmp_path: Path) -> None:
    environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache")}
    one, two = (files.cache_folder(tmp_path / name, environ) for name in ("one", "two"))
    assert one != two
    assert one.parent == two.parent == tmp_path / "cache"
    assert files.cache_root({}).name == "pyramid-fs"


def test_the_configuration_is_a_file_or_lies_in_a_folder(tmp_path: Path) -> None:
    assert files.config_file({"PYRAMID_CONFIG": str(tmp_path)}) == tmp_path / "config.toml"
    assert files.config_file({"PYRAMID_CONFIG": str(tmp_path / "mine.toml")}) == tmp_path / "mine.toml"
    assert files.config_file({}).parts[-2:] == ("pyramid-fs", "config.toml")


def test_a_machine_keeps_its_name_and_draws_another_for_a_lost_cache(tmp_path: Path) -> None:
    name = files.machine(tmp_path / "cache")
    assert files.machine(tmp_path / "cache") == name
    assert len(name) == 6
    (tmp_path / "cache" / "machine").write_text("../../etc/passwd")
    assert files.machine(tmp_path / "cache") not in {name, "../../etc/passwd"}
    (tmp_path / "shut").write_text("a file where the folder should be")
    assert len(files.machine(tmp_path / "shut")) == 6


def test_a_file_that_was_saved_since_it_was_read_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "beans.md"
    path.write_bytes(b"In row two by now.")
    with pytest.raises(RefusedWrite, match="changed since it was read"):
        files.remove(path, b"In row one.")
    assert path.read_bytes() == b"In row two by now."
    files.remove(path, b"In row two by now.")
    assert not path.exists()
    files.remove(path, b"In row two by now.")
