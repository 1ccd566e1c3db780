"""What an index says of itself is read back as written, and whatever does not fit it makes the index none."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import indexed
from pyramid_fs.indexed import Meta

if TYPE_CHECKING:
    from pathlib import Path

KEY = indexed.key("Europe/Berlin")
META = Meta(KEY, "birth", 7, "token", "i-1", 3, "boot", {"a.trm": (5, 6, 7), "b.pst": (1, 2, 3)})


@pytest.fixture
def held(tmp_path: Path) -> tuple[Path, Meta]:
    """Two files, and what is said of them."""
    (tmp_path / "a").write_bytes(b"alpha")
    (tmp_path / "b").write_bytes(b"beta")
    return tmp_path, replace(META, boot=indexed.boot(), files=indexed.facts(tmp_path, ["a", "b"], {}))


def touch(path: Path, by: int = 1) -> None:
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + by))


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    indexed.keep(tmp_path, META)
    assert indexed.read(tmp_path, KEY) == META
    later = replace(META, rev=8, files={})
    indexed.keep(tmp_path, later)
    assert indexed.read(tmp_path, KEY) == later


def test_an_index_of_another_version_or_time_zone_says_nothing(tmp_path: Path) -> None:
    indexed.keep(tmp_path, META)
    assert indexed.key("Europe/Berlin") != indexed.key("UTC")
    assert indexed.read(tmp_path, indexed.key("UTC")) is None
    indexed.keep(tmp_path, replace(META, key=f"{indexed.VERSION + 1}:Europe/Berlin"))
    assert indexed.read(tmp_path, KEY) is None


def test_a_folder_without_a_word_says_nothing(tmp_path: Path) -> None:
    assert indexed.read(tmp_path, KEY) is None
    assert indexed.read(tmp_path / "none", KEY) is None
    (tmp_path / indexed.META).mkdir()
    assert indexed.read(tmp_path, KEY) is None


@pytest.mark.parametrize(
    "data", [b"", b"\x00" * 9, b"\xff", b"{", b"[]", b"3", b"null", b"{}", b'{"files": {}}', b"[" * 100_000]
)
def test_garbage_says_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / indexed.META).write_bytes(data)
    assert indexed.read(tmp_path, KEY) is None


@pytest.mark.parametrize("size", [0, 1, 40, -1])
def test_half_a_word_says_nothing(tmp_path: Path, size: int) -> None:
    indexed.keep(tmp_path, META)
    path = tmp_path / indexed.META
    os.truncate(path, size if size >= 0 else path.stat().st_size - 1)
    assert indexed.read(tmp_path, KEY) is None


@pytest.mark.parametrize("name", Meta.__slots__)
def test_a_word_that_lacks_a_part_says_nothing(tmp_path: Path, name: str) -> None:
    indexed.keep(tmp_path, META)
    raw = json.loads((tmp_path / indexed.META).read_bytes())
    del raw[name]
    (tmp_path / indexed.META).write_text(json.dumps(raw))
    assert indexed.read(tmp_path, KEY) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("files", [1]),
        ("files", {"a": [1, 2]}),
        ("files", {"a": [1, "x", 2]}),
        ("files", {"a": None}),
        ("more", 1),
        ("key", 1),
        ("rev", None),
        ("rev", "7"),
        ("generation", "3"),
        ("folder", 3),
        ("birth", None),
    ],
)
def test_a_value_of_another_type_says_nothing(tmp_path: Path, name: str, value: Any) -> None:
    indexed.keep(tmp_path, META)
    raw = json.loads((tmp_path / indexed.META).read_bytes())
    (tmp_path / indexed.META).write_text(json.dumps({**raw, name: value}))
    assert indexed.read(tmp_path, KEY) is None


def test_files_are_described_by_size_time_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"alpha")
    os.utime(tmp_path / "a", ns=(5, 1234))
    assert indexed.facts(tmp_path, ["a"], {}) == {"a": (5, 1234, zlib.crc32(b"alpha"))}


def test_a_checksum_is_computed_once_for_as_long_as_the_file_stands(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"alpha")
    os.utime(tmp_path / "a", ns=(5, 1234))
    assert indexed.facts(tmp_path, ["a"], {"a": (5, 1234, 99)}) == {"a": (5, 1234, 99)}
    crc = zlib.crc32(b"alpha")
    assert indexed.facts(tmp_path, ["a"], {"a": (5, 1235, crc)}) == {"a": (5, 1234, crc)}
    for other in ((5, 1235, 99), (6, 1234, 99)):
        with pytest.raises(ValueError, match="a is not as it was written"):
            indexed.facts(tmp_path, ["a"], {"a": other})


def test_files_as_they_were_written_fit(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    assert indexed.fits(folder, meta)


def test_a_file_of_another_time_fits_where_its_bytes_do(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    touch(folder / "a")
    assert indexed.fits(folder, meta)
    (folder / "a").write_bytes(b"alphA")
    touch(folder / "a")
    assert not indexed.fits(folder, meta)


def test_a_file_of_another_size_does_not_fit(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    stat = (folder / "a").stat()
    (folder / "a").write_bytes(b"alph")
    os.utime(folder / "a", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert not indexed.fits(folder, meta)


def test_a_file_that_is_gone_does_not_fit(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    (folder / "b").unlink()
    with pytest.raises(FileNotFoundError):
        indexed.fits(folder, meta)


def test_a_commit_that_nothing_was_said_of_fits_only_within_one_run_of_the_machine(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    assert indexed.boot()
    assert indexed.may_follow(folder, meta, meta.generation + 1, ("a", "b"))
    assert not indexed.may_follow(folder, replace(meta, boot="another"), meta.generation + 1, ("a", "b"))
    assert not indexed.may_follow(folder, replace(meta, boot=""), meta.generation + 1, ("a", "b"))


def test_where_a_system_does_not_tell_its_start_no_kill_is_told_from_a_power_cut(
    held: tuple[Path, Meta], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, meta = held
    monkeypatch.setattr(indexed, "_BOOT", folder / "none")
    assert indexed.boot() == ""
    assert not indexed.may_follow(folder, replace(meta, boot=""), meta.generation + 1, ("a", "b"))
    assert indexed.fits(folder, replace(meta, boot=""))


def test_after_another_start_bytes_count_and_not_times(held: tuple[Path, Meta]) -> None:
    """A power cut leaves a file with its size and its time, and zeros where its bytes were."""
    folder, meta = held
    stat = (folder / "a").stat()
    (folder / "a").write_bytes(b"\0" * 5)
    os.utime(folder / "a", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert not indexed.fits(folder, replace(meta, boot="another"))


def test_an_older_list_of_segments_than_what_is_said_of_it_does_not_fit(held: tuple[Path, Meta]) -> None:
    folder, meta = held
    assert not indexed.may_follow(folder, meta, meta.generation - 1, ("a", "b"))
