"""Disks that refuse: no right to read, no right to write, no space left, and files that are far too large."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hard
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hard.Vault]:
    made = hard.make(tmp_path, monkeypatch)
    yield made
    for folder, _, _ in os.walk(tmp_path):
        Path(folder).chmod(0o755)


def shut(vault: hard.Vault, path: str, mode: int = 0) -> None:
    (vault.root / path).chmod(mode)


# No right to read


def test_what_may_not_be_read_is_named_and_holds_up_nothing(vault: hard.Vault) -> None:
    vault.fill(10)
    vault.note("locked", "saffron bulbs")
    vault.put("models/vaulted/a.md", "quinoa")
    vault.put("models/plot/below/deep.md", "amaranth")
    vault.put("entities/mara-x7q2.md", "---\nname: Mara\n---\n")
    vault.put("topics/hedges.md", "---\ntitle: Hedges\n---\n")
    vault.put("sessions/day-x7q2.md", "a day")
    for path in ("models/plot/locked.md", "models/vaulted", "models/plot/below", "entities/mara-x7q2.md", "sessions"):
        shut(vault, path)
    bad = ["entities/mara-x7q2.md", "models/plot/below", "models/plot/locked.md", "models/vaulted", "sessions"]
    ran = vault.as_plain_user("status", "--json")
    assert (ran.code, sorted(each["path"] for each in ran.json["problems"])) == (0, bad)
    assert all("permission denied" in each["reason"] for each in ran.json["problems"])
    ran = vault.as_plain_user("doctor", "--json")
    assert (ran.code, sorted(each["path"] for each in ran.json["problems"])) == (1, bad)
    ran = vault.as_plain_user("recall", "--json", "hand3")
    assert (ran.code, ran.err, ran.hits[0]) == (0, "", "models/plot/row3.md")
    assert vault.as_plain_user("recall", "--json", "Hedges").hits == ["topics/hedges.md"]
    for words in (["map"], ["load", "plot"], ["expand", "row1"], ["expand", "locked"]):
        assert vault.as_plain_user(*words).code in {0, 40}, words
    assert vault.as_plain_user("load", "vaulted").code == 40
    assert vault.as_plain_user("record", "-m", "vaulted", "x").code == 40
    assert vault.as_plain_user("verify").code == 1
    for path in ("models/plot/locked.md", "models/vaulted", "models/plot/below", "entities/mara-x7q2.md", "sessions"):
        shut(vault, path, 0o755)
    assert vault.finds("saffron") == ["models/plot/locked.md"]
    assert vault.finds("quinoa") == ["models/vaulted/a.md"]
    assert vault.finds("amaranth") == ["models/plot/below/deep.md"]
    assert vault.finds("Mara") == ["entities/mara-x7q2.md"]
    assert vault.problems() == []
    assert vault.run("advance").code == 0
    vault.is_sound()


def test_a_locked_note_is_in_no_batch_and_others_are(vault: hard.Vault) -> None:
    vault.fill(10)
    vault.note("locked", "saffron bulbs", created="2026-01-01")
    shut(vault, "models/plot/locked.md")
    ran = vault.as_plain_user("advance")
    assert (ran.code, ran.err) == (0, "")
    assert sorted(vault.sources()) == sorted(f"row{number}" for number in range(1, 11))
    shut(vault, "models/plot/locked.md", 0o644)
    assert vault.counts() == (11, 1, {"0": 1})
    vault.is_sound()


@pytest.mark.parametrize("path", ["models/plot", "models/plot/beds", "models/plot/tier-0", "models/plot/2026-02"])
def test_a_folder_that_is_shut_is_no_deletion(vault: hard.Vault, path: str) -> None:
    """While a part of it is shut a model does not grow; when it opens again nothing has been taken as gone."""
    vault.fill(10)
    for number in range(1, 6):
        vault.note(f"beds/bed{number}", f"bed {number} by hand", created=f"2026-03-0{number}")
        vault.note(f"2026-02/old{number}", f"old {number} by hand", created=f"2026-01-0{number}")
    assert vault.run("advance").code == 0
    vault.fill(10, "yard")
    vault.fill(10)
    before = vault.bytes()
    shut(vault, path)
    ran = vault.as_plain_user("advance", "--json")
    assert ran.code in {0, 40}
    assert path.split("/")[1] in ran.err
    assert "permission denied" in ran.err
    assert len(ran.json["written"]) == 1
    for words in (["status", "--json"], ["doctor", "--json"], ["recall", "--json", "hand"], ["map", "--json"]):
        ran = vault.as_plain_user(*words)
        assert ran.code in {0, 1}
        assert ran.json
    assert "nothing is taken as deleted" in vault.as_plain_user("verify").out
    shut(vault, path, 0o755)
    assert {path: data for path, data in vault.bytes().items() if "yard" not in path} == {
        path: data for path, data in before.items() if "yard" not in path
    }
    assert vault.run("advance").code == 0
    assert vault.counts()[:2] == (20, 0)
    assert vault.run("verify", "--json").json["models"][0]["missing"] == 0
    vault.is_sound()


@pytest.mark.parametrize("path", ["pyramid.toml", ".", "models"])
def test_a_vault_that_may_not_be_read_is_an_error(vault: hard.Vault, path: str) -> None:
    vault.fill(10)
    shut(vault, path)
    for words in (["recall", "hand3"], ["status"], ["record", "-m", "plot", "x"], ["advance"], ["map"], ["doctor"]):
        ran = vault.as_plain_user(*words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (40, "", 1), (words, ran)
        assert "permission denied" in ran.err
    shut(vault, path, 0o755)
    assert vault.counts() == (10, 10, {})


def test_a_configuration_that_may_not_be_read_is_an_error(vault: hard.Vault) -> None:
    vault.config.write_text("")
    vault.config.chmod(0)
    ran = vault.as_plain_user("status")
    assert ran.code == 40
    assert "config.toml" in ran.err


@pytest.mark.parametrize("kind", ["read-only", "file", "locked"])
def test_a_cache_that_refuses_costs_time_and_no_answer(vault: hard.Vault, kind: str) -> None:
    vault.fill(3)
    if kind == "file":
        vault.cache.write_text("no folder")
    else:
        vault.cache.mkdir()
        vault.cache.chmod(0o500 if kind == "read-only" else 0)
    assert vault.as_plain_user("recall", "--json", "hand3").hits == ["models/plot/row3.md"]
    assert vault.as_plain_user("status", "--json").json["models"][0]["notes"] == 3
    assert vault.as_plain_user("load", "plot").code == 0


@pytest.mark.slow
def test_a_process_of_a_plain_user_meets_the_same(vault: hard.Vault) -> None:
    vault.note("open", "crocus lawn")
    vault.note("locked", "saffron bulbs")
    shut(vault, "models/plot/locked.md")
    user = (
        ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        if os.geteuid() == 0 and shutil.which("setpriv")
        else []
    )
    ran = vault.process("doctor", "--json", prefix=user)
    if user or os.geteuid() != 0:
        assert (ran.code, [each["path"] for each in ran.json["problems"]]) == (1, ["models/plot/locked.md"])
    assert vault.process("recall", "--json", "crocus", prefix=user).hits == ["models/plot/open.md"]


# No right to write


def test_a_read_only_file_is_refused_and_stays(vault: hard.Vault) -> None:
    vault.put("procedures/net-x7q2.md", hard.page("Net them.", "status: pending", "confidence: 0.6"))
    vault.put("entities/mara-x7q2.md", "---\nname: Mara\nstatus: pending\nconfidence: 0.6\ncreated: 2026-03-01\n---\n")
    for path in ("procedures/net-x7q2.md", "entities/mara-x7q2.md", "models/plot/plot.md"):
        shut(vault, path, 0o444)
    before = vault.bytes()
    for words in (
        ["confirm", "net-x7q2"],
        ["confirm", "mara-x7q2"],
        ["model", "archive", "plot"],
        ["model", "describe", "plot", "x"],
    ):
        for run in (vault.run, vault.as_plain_user):
            ran = run(*words)
            assert (ran.code, ran.err.count("\n")) == (24, 1), (words, ran)
            assert "read-only" in ran.err
    assert vault.bytes() == before


def test_folders_that_take_nothing_lose_nothing(vault: hard.Vault) -> None:
    vault.fill(10)
    vault.put("procedures/net-x7q2.md", hard.page("Net them.", "status: pending", "confidence: 0.6"))
    (vault.root / "topics").mkdir()
    (vault.root / "entities").mkdir()
    lines = vault.root.parent / "in.jsonl"
    lines.write_text(json.dumps({"model": "plot", "text": "from elsewhere"}) + "\n")
    before = vault.bytes()
    for path in ("models", "models/plot", "topics", "entities", "procedures", "."):
        shut(vault, path, 0o555)
    for words in (
        ["record", "-m", "plot", "x"],
        ["advance"],
        ["model", "new", "other"],
        ["topic", "add", "x"],
        ["entity", "add", "x"],
        ["confirm", "net-x7q2"],
        ["import", "jsonl", str(lines)],
        ["model", "archive", "plot"],
        ["model", "rename", "plot", "x"],
    ):
        ran = vault.as_plain_user(*words)
        assert ran.code in {24, 40}, (words, ran)
        assert ran.err.count("\n") == 1
        assert "permission denied" in ran.err or "read-only" in ran.err
    for words in (
        ["recall", "--json", "hand3"],
        ["status", "--json"],
        ["load", "plot"],
        ["map"],
        ["verify"],
        ["doctor"],
    ):
        ran = vault.as_plain_user(*words)
        assert (ran.code, ran.err) == (0, ""), words
    assert vault.bytes() == before


# No space left

ON_A_FULL_DISK = """
import base64, json, os, resource, shutil, subprocess, sys
asked = json.loads(sys.stdin.read())
root, small = asked["root"], asked["small"]
if asked["mount"]:
    os.makedirs(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={asked['size']}", "none", small], check=True)
shutil.copytree(root, f"{small}/vault")
os.environ["PYRAMID_CACHE_DIR"] = os.environ["PYRAMID_CACHE_DIR"].replace(root, f"{small}/vault")
def run(words, bound):
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bound, bound))) if bound is not None else None
    words = [word.replace(root, f"{small}/vault") for word in words]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=limit, timeout=120)
    return [done.returncode, done.stdout, done.stderr]
def fill():
    with open(f"{small}/ballast", "ab", 0) as ballast:
        for size in (65536, 4096, 1):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError:
                pass
    with open(f"{small}/ballast", "rb+") as ballast:
        ballast.truncate(max(0, os.path.getsize(f"{small}/ballast") - asked["spare"]))
def look():
    found = {}
    for folder, _, names in os.walk(f"{small}/vault"):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, f"{small}/vault")] = base64.b64encode(open(path, "rb").read()).decode()
    return found
if asked["mount"]:
    fill()
full = [run(words, None if asked["mount"] else asked["bound"]) for words in asked["full"]]
left = look()
if asked["mount"]:
    os.unlink(f"{small}/ballast")
free = [run(words, None) for words in asked["free"]]
print(json.dumps({"full": full, "left": left, "free": free, "end": look()}))
"""


def on_a_full_disk(
    vault: hard.Vault,
    full: Sequence[Sequence[str]],
    free: Sequence[Sequence[str]],
    *,
    kind: str,
    spare: int = 0,
    bound: int = 0,
) -> tuple[list[hard.Ran], dict[str, bytes], list[hard.Ran], dict[str, bytes]]:
    """Run commands on a copy of the vault on a disk that is full, then others once there is space again.

    `tmpfs` is a disk of its own in a namespace; where there are none, and as `limit`, no file may outgrow `bound`.
    """
    namespace = ["unshare", "-Urm"] if kind == "tmpfs" and shutil.which("unshare") else []
    mount = bool(namespace) and subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0
    asked: dict[str, Any] = {
        "root": str(vault.root),
        "small": str(vault.root.parent / "small"),
        "mount": mount,
        "size": 1 << 20,
        "spare": spare,
        "bound": bound,
        "full": [vault.words(*words) for words in full],
        "free": [vault.words(*words) for words in free],
    }
    done = subprocess.run(
        [*(namespace if mount else []), sys.executable, "-c", ON_A_FULL_DISK],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=vault.environ(),
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for words, (_, _, err) in zip([*full, *free], [*found["full"], *found["free"]], strict=True):
        assert "Traceback" not in err, (words, err)
        assert err.count("\n") <= 1, (words, err)
    left, end = ({path: base64.b64decode(data) for path, data in found[key].items()} for key in ("left", "end"))
    return [hard.Ran(*ran) for ran in found["full"]], left, [hard.Ran(*ran) for ran in found["free"]], end


@pytest.fixture
def stocked(vault: hard.Vault) -> hard.Vault:
    vault.fill(10, chars=600)
    vault.put("procedures/net-x7q2.md", hard.page("Net the currants. " * 400, "status: pending", "confidence: 0.6"))
    (vault.root.parent / "in.jsonl").write_text(
        "".join(
            json.dumps({"model": "plot", "text": f"import{n} " + "from the old book " * 300}) + "\n" for n in range(12)
        )
    )
    for number in range(12):
        path = vault.root.parent / f"folder/plot/leaf{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"leaf{number} " + "from the other book " * 300)
    return vault


def writes(vault: hard.Vault) -> list[list[str]]:
    beside = vault.root.parent
    return [
        ["confirm", "net-x7q2"],
        ["record", "-m", "plot", "--no-advance", "y" * 5000],
        ["topic", "add", "Fences"],
        ["entity", "add", "Mara"],
        ["model", "new", "yard", "-d", "z" * 3000],
        ["record", "--create", "-m", "attic", "w" * 5000],
        ["advance"],
        ["import", "jsonl", str(beside / "in.jsonl")],
        ["import", "markdown", str(beside / "folder")],
        ["model", "archive", "plot"],
        ["model", "unarchive", "plot"],
    ]


@pytest.mark.parametrize("kind", ["tmpfs", pytest.param("limit", marks=pytest.mark.slow)])
def test_a_full_disk_loses_nothing_and_is_said_in_one_line(stocked: hard.Vault, kind: str) -> None:
    before = stocked.bytes()
    reads = [
        ["recall", "--json", "hand3"],
        ["status", "--json"],
        ["load", "plot", "--no-advance"],
        ["map"],
        ["verify"],
        ["doctor"],
    ]
    commands = [*writes(stocked), *reads]
    full, left, free, end = on_a_full_disk(stocked, commands, [*writes(stocked), *reads], kind=kind, bound=0)
    for words, ran in zip(commands, full, strict=True):
        if words[:2] == ["model", "unarchive"]:  # it is not archived: there is nothing to write
            continue
        assert ran.code == (0 if words in reads else 40), (words, ran)
        assert ("space" in ran.err or "too large" in ran.err) == (words not in reads), (words, ran)
    assert left == before
    for words, ran in zip([*writes(stocked), *reads], free, strict=True):
        assert ran.code == 0, (words, ran)
    assert set(before) <= set(end)
    texts = b"\n".join(data for path, data in end.items() if "/tier-" not in path).decode()
    assert [(texts.count(f"import{n} "), texts.count(f"leaf{n} ")) for n in range(12)] == [(1, 1)] * 12
    assert all(texts.count(f"import{n} ") == 1 and texts.count(f"leaf{n} ") == 1 for n in range(12))
    assert not any(".pyramid-" in path for path in end)


@pytest.mark.slow
@pytest.mark.parametrize("spare", [4096, 12288, 16384, 32768, 65536])
def test_a_disk_that_fills_up_at_many_points(stocked: hard.Vault, spare: int) -> None:
    test_a_disk_that_fills_up_half_way_keeps_what_was_said_to_be_done(stocked, spare)


@pytest.mark.slow
@pytest.mark.parametrize("spare", [40960])
def test_a_disk_that_fills_up_half_way_keeps_what_was_said_to_be_done(stocked: hard.Vault, spare: int) -> None:
    beside = stocked.root.parent
    notes = [["record", "-m", "plot", "--no-advance", f"told{number} " + "y" * 5000] for number in range(6)]
    commands = [["advance"], *notes, ["import", "jsonl", str(beside / "in.jsonl")], ["confirm", "net-x7q2"], ["verify"]]
    again = [
        ["import", "jsonl", str(beside / "in.jsonl")],
        ["import", "markdown", str(beside / "folder")],
        ["advance"],
        ["verify"],
    ]
    full, left, free, end = on_a_full_disk(stocked, commands, again, kind="tmpfs", spare=spare, bound=spare // 4)
    assert {ran.code for ran in full} <= {0, 40}
    assert full[-1].code == 0
    for number, ran in enumerate(full[1:7]):
        held = [data for data in left.values() if f"told{number} ".encode() in data]
        assert len(held) == (ran.code == 0)
        assert all(data.endswith(b"y" * 5000 + b"\n") for data in held)
    assert all(data.strip() for data in left.values())
    assert not any(".pyramid-" in path for path in left)
    assert [ran.code for ran in free] == [0, 0, 0, 0], free
    texts = b"\n".join(data for path, data in end.items() if "/tier-" not in path).decode()
    assert all(texts.count(f"import{n} ") == 1 and texts.count(f"leaf{n} ") == 1 for n in range(12))


def test_a_full_disk_under_the_cache_too(stocked: hard.Vault) -> None:
    inside = hard.Vault(stocked.root, stocked.root / ".cache", stocked.config)
    full, left, _, _ = on_a_full_disk(
        inside,
        [["recall", "--json", "hand3"], ["record", "-m", "plot", "y" * 5000], ["status"]],
        [],
        kind="tmpfs",
        bound=0,
    )
    assert [ran.code for ran in full] == [0, 40, 0]
    assert full[0].hits[0] == "models/plot/row3.md"
    assert {path: data for path, data in left.items() if not path.startswith(".cache/")} == stocked.bytes()


# Huge files

SHAPES: dict[str, Callable[[int], str]] = {
    "one-line": lambda size: "a1b2c3d4" * (size // 8),
    "one-line-of-words": lambda size: "late potatoes " * (size // 14),
    "lines": lambda size: "\n".join(f"line {number} of a log" for number in range(size // 20)),
    "one-letter-lines": lambda size: "x\n" * (size // 2),
    "blank-lines": lambda size: "\n" * size,
    "blanks": lambda size: " " * size + "x",
    "dashes": lambda size: "---\n" * (size // 4),
    "long-dash": lambda size: "-" * size,
    "brackets": lambda size: "[" * size,
    "links": lambda size: "[[a]] " * (size // 6),
    "embeds": lambda size: "![[a]]" * (size // 6),
    "headings": lambda size: "# a\n" * (size // 4),
    "table": lambda size: "| a | b |\n" * (size // 10),
    "dots": lambda size: "." * size,
    "sentences": lambda size: "He dug. She sowed! Who reaped? " * (size // 31),
    "abbreviations": lambda size: "e.g. Dr. No. 3 vs. Mr. X, i.e. " * (size // 31),
    "cjk": lambda size: "畑に水をやる。" * (size // 21),
    "thai": lambda size: "มะเขือเทศ" * (size // 27),
    "emoji": lambda size: "🚜" * (size // 4),
    "marks": lambda size: "e" + "\u0301" * (size // 2),
    "quotes": lambda size: '"' * size,
    "base64": lambda size: base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode(),
    "crlf": lambda size: "row\r\n" * (size // 5),
    "key-value": lambda size: "key: value\n" * (size // 11),
    "parens": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "stars": lambda size: "*" * size,
    "urls": lambda size: "https://example.org/a?b=c#d " * (size // 28),
    "digits": lambda size: "0" * size,
    "underscores": lambda size: "_" * size,
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_file_of_any_shape_is_found_shown_by_name_and_summarized(vault: hard.Vault, shape: str) -> None:
    text = SHAPES[shape](150_000)
    vault.put("models/plot/large.md", f"zinnia {text}\ndahlia at the end\n")
    vault.note("small", "cosmos in a pot")
    assert vault.finds("dahlia") == ["models/plot/large.md"]
    assert vault.finds("zinnia") == ["models/plot/large.md"]
    assert vault.finds("cosmos") == ["models/plot/small.md"]
    assert len(vault.run("recall", "--json", "zinnia").out) < 20_000
    shown = vault.run("load", "plot").out
    assert len(shown) <= 26_000
    assert "cosmos in a pot" in shown
    assert "large" in shown
    shown = vault.run("map").out
    assert len(shown) < 26_000
    assert "Shown by: pyramid expand large" in shown
    ran = vault.run("advance")
    assert ran.code == 0, ran
    for path in vault.summaries():
        assert len(vault.run("expand", path.stem).out) < 30_000
        body = path.read_text().split("---\n", 2)[2]
        assert 0 < len(body.strip()) <= 1500
    assert vault.counts()[1] <= 1
    vault.is_sound()


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        "title: " + "x" * 300_000,
        "\n".join(f"key{n}: value" for n in range(30_000)),
        "tags: [" + "a, " * 60_000 + "b]",
        "x: |\n" + "  line\n" * 50_000,
        "# remark\n" * 50_000,
        "a: &a [x]\nb: [" + "*a, " * 40_000 + "*a]",
    ],
)
def test_front_matter_that_is_far_too_large_stops_nothing(vault: hard.Vault, block: str) -> None:
    vault.fill(10)
    vault.put("models/plot/large.md", f"---\n{block}\n---\nzinnia\n")
    assert vault.finds("zinnia") == ["models/plot/large.md"]
    assert vault.problems() in ([], ["models/plot/large.md"])
    assert len(vault.run("recall", "--json", "zinnia").out) < 20_000
    assert vault.run("advance").code == 0
    assert len(vault.summaries()) == 1
    vault.is_sound()


@pytest.mark.slow
def test_a_folder_of_very_many_files_and_a_very_deep_one(vault: hard.Vault) -> None:
    for number in range(1500):
        vault.put(f"models/plot/many/n{number}.md", f"note{number} of very many")
    vault.put("models/plot/" + "d/" * 400 + "deep.md", "zinnia far below")
    assert vault.finds("zinnia") == ["models/plot/" + "d/" * 400 + "deep.md"]
    assert vault.finds("note1499") == ["models/plot/many/n1499.md"]
    assert vault.counts()[0] == 1501
    assert vault.run("expand", "deep").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_huge_file_of_any_shape_in_bounded_memory(vault: hard.Vault, shape: str) -> None:
    vault.put("models/plot/large.md", f"zinnia {SHAPES[shape](20_000_000)}\ndahlia at the end\n")
    vault.note("small", "cosmos in a pot")
    limit = ["/bin/sh", "-c", 'ulimit -v 900000; exec "$@"', "sh"]
    for words in (["recall", "--json", "dahlia"], ["recall", "--json", "cosmos"]):
        ran = vault.process(*words, prefix=limit)
        assert (ran.code, len(ran.hits)) == (0, 1)
    assert vault.process("load", "plot", prefix=limit).code == 0
    assert vault.process("advance").code == 0
    vault.is_sound()


@pytest.mark.slow
def test_memory_stays_bounded(vault: hard.Vault) -> None:
    vault.put("models/plot/large.md", "zinnia " + "a1b2c3d4" * 1_500_000 + "\ndahlia\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert vault.process("recall", "--json", "dahlia").hits == ["models/plot/large.md"]
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a child counts as large as what it was forked from
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, here, 250_000)
