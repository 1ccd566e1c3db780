"""Names of files, models, topics and handles: what people, agents, sync tools and other systems come up with."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import unicodedata
from pathlib import Path

import hard
import pytest

from pyramid_fs import format as pages

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def outside(vault: hard.Vault) -> dict[str, bytes | None]:
    """Give all that lies beside the vault, the store's own cache left out."""
    top = vault.root.parent
    found = (path for path in top.rglob("*") if vault.root not in (path, *path.parents))
    found = (path for path in found if vault.cache not in (path, *path.parents))
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def names_are_legal(vault: hard.Vault) -> None:
    for path in vault.root.rglob("*"):
        name = path.name
        assert len(name.encode()) <= 120, name
        assert name == nfc(name)
        assert not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]|%%', name), name
        assert not re.search(r"^[ ]|[. ]$", name), name
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name), name
        assert not unicodedata.combining(name[0]), name
        assert path.suffix != ".md" or path.stem
        assert not any(unicodedata.category(letter) in {"Cs", "Cc", "Cf", "Co"} for letter in name), name


# What sync tools, editors and systems leave behind

COPIES = [
    "peas.sync-conflict-20260314-101500-ABCDEF7.md",
    "peas.sync-conflict-20260314-101500.md",
    "peas (Mara's conflicted copy 2026-03-14).md",
    "peas (conflicted copy 2026-03-14 101500).md",
    "peas (Conflicted copy tablet 202603141015).md",
    "peas (conflicted copy from laptop on 2026-03-14).md",
    "peas (Mara's conflicted copy 2026-03-14) (1).md",
    "peas (in Konflikt stehende Kopie von Mara 2026-03-14).md",
    "peas (case conflict).md",
    "peas (case conflict 1).md",
    "peas (SFConflict mara@example.org 2026-03-14-10-15-00).md",
    "peas_conflict-20260314-101500.md",
    "peas.sync-conflict-20260314-101500-ABCDEF7.sync-conflict-20260315-101500-ABCDEF7.md",
]
HONEST = [
    "peas 2.md",
    "peas (1).md",
    "peas (2026-03-14).md",
    "peas copy.md",
    "Copy of peas.md",
    "peas - Copy.md",
    "conflict.md",
    "sync-conflict.md",
    "sync-conflict thoughts 20260314.md",
    "my conflicted copy habit.md",
    "peas (conflicted).md",
    "on conflicted copy (2026).md",
    "peas_conflict.md",
    "peas.backup.md",
    "peas.old.md",
    "draft~.md",
    "peas.v1.2.md",
    "tmp.md",
    "temp notes.md",
    "#1 peas.md",
    "4913.md",
    "tier-0.md",
    "retired.md",
    "$recycle.md",
    "~peas.md",
    "peas [old].md",
]
LEFTOVERS = [
    ".peas.md.swp",
    ".peas.md.swo",
    "peas.md~",
    "#peas.md#",
    ".#peas.md",
    "~$peas.md",
    "peas.md.bak",
    "peas.md.orig",
    "peas.md.tmp",
    ".~lock.peas.md#",
    "~syncthing~peas.md.tmp",
    ".syncthing.peas.md.tmp",
    "peas.md.part",
    "._peas.md",
    "peas.md.crdownload",
    ".peas.md.icloud",
    ".goutputstream-A1B2C3",
    "peas.md___jb_tmp___",
    ".nfs000000000001",
    "desktop.ini",
    "Thumbs.db",
    ".DS_Store",
    "peas.markdown",
    "peas.txt",
    "peas.md.gpg",
    ".md",
    "peas.pdf",
    "peas",
    ".pyramid-0a1b2c3d4e5f.tmp",
    "peas.canvas",
    "peas.base",
    ".peas.md.Xy12Zq",
    "peas.rej",
]


@pytest.mark.parametrize("name", COPIES)
def test_a_conflict_copy_is_no_note_and_doctor_names_it(vault: hard.Vault, name: str) -> None:
    vault.fill(9)
    vault.note("peas", "marrowfat in the cold frame")
    copy = vault.put(f"models/plot/{name}", hard.page("marrowfat in the cold frame, and purslane"))
    assert vault.finds("marrowfat") == ["models/plot/peas.md"]
    assert vault.finds("purslane") == []
    assert vault.counts() == (10, 10, {})
    assert vault.problems() == []
    assert list(vault.doctor()) == [f"models/plot/{name}"]
    before = vault.bytes()
    assert vault.run("advance").code == 0
    assert vault.counts() == (10, 0, {"0": 1})
    assert before.items() <= vault.bytes().items()
    assert copy.exists()
    assert vault.run("verify").code == 0


@pytest.mark.parametrize("name", HONEST)
def test_a_name_alone_makes_no_copy(vault: hard.Vault, name: str) -> None:
    vault.note("peas", "marrowfat in the cold frame")
    vault.put(f"models/plot/{name}", hard.page("purslane by the tap"))
    assert vault.finds("purslane") == [f"models/plot/{name}"]
    assert vault.counts() == (2, 2, {})
    assert vault.doctor() == {}
    assert vault.run("expand", name.removesuffix(".md")).code == 0
    vault.is_sound()


def test_what_tools_leave_is_no_note(vault: hard.Vault) -> None:
    vault.fill(9)
    vault.note("peas", "marrowfat in the cold frame")
    for folder in ("models/plot", "models/plot/beds", "topics", "entities", "procedures", "sessions"):
        for name in LEFTOVERS:
            vault.put(f"{folder}/{name}", hard.page("purslane by the tap"))
    assert vault.finds("purslane") == []
    assert vault.counts() == (10, 10, {})
    assert vault.problems() == []
    placeholders = [path for path in vault.doctor() if path.endswith(".icloud")]
    assert sorted(vault.doctor()) == sorted(placeholders)
    before = vault.bytes()
    assert vault.run("advance").code == 0
    assert before.items() <= vault.bytes().items()
    vault.is_sound()


@pytest.mark.parametrize(
    "folder",
    [
        ".obsidian/plugins/x",
        ".trash",
        ".git",
        ".stversions",
        ".stfolder",
        ".sync",
        ".dropbox.cache",
        ".vscode",
        "models/.trash",
        "models/.stversions/plot",
        "models/plot/.trash",
        "models/plot/.obsidian",
        "models/plot/beds/.git",
        "models/plot/node_modules/x",
        "models/@eaDir/plot",
        "models/plot/@eaDir",
        "models/$RECYCLE.BIN",
        "topics/.trash",
        "other",
        "models/plot/__pycache__",
        "templates",
        "models/.hidden-model",
    ],
)
def test_folders_of_tools_are_no_models(vault: hard.Vault, folder: str) -> None:
    vault.note("peas", "marrowfat in the cold frame")
    vault.put("models/v1.2-rc/notes.md", hard.page("marrowfat again"))
    vault.put(f"{folder}/peas.md", hard.page("marrowfat and purslane"))
    assert vault.finds("purslane") == []
    assert sorted(vault.finds("marrowfat")) == ["models/plot/peas.md", "models/v1.2-rc/notes.md"]
    assert [model["name"] for model in vault.status()["models"]] == ["plot", "v1.2-rc"]
    assert vault.doctor() == {}
    assert vault.run("verify").code == 0


def test_names_that_differ_by_their_ending_alone_are_named(vault: hard.Vault) -> None:
    vault.fill(9)
    vault.note("peas", "marrowfat in the cold frame")
    vault.put("models/plot/peas.MD", hard.page("purslane by the tap"))
    assert vault.finds("purslane") == ["models/plot/peas.MD"]
    assert list(vault.doctor()) == ["models/plot/peas.MD"]
    assert vault.run("advance").code == 0
    assert vault.counts() == (11, 1, {"0": 1})
    assert vault.run("verify").code == 0


# Composition and case

COMPOSED = [
    "Löwenmäulchen",
    "Ångström",
    "Žluťoučký kůň",
    "Việt Nam",
    "한국어",
    "ガーデン",
    "Ǻ",
    "ệ",
    "naïve café",
    "Ёж",
]


@pytest.mark.parametrize("name", COMPOSED)
def test_one_name_in_both_forms_is_one(vault: hard.Vault, name: str) -> None:
    name, other = nfc(name), nfd(name)
    vault.put(f"models/plot/{other}.md", hard.page(f"{other} stands here", f"title: {other}"))
    vault.put("models/plot/b.md", nfd(f"see [[{name}]], {name} of old"))
    for form in (name, other):
        assert {nfc(path) for path in vault.finds(form)} == {f"models/plot/{name}.md", "models/plot/b.md"}
        assert vault.run("expand", form).code == 0
    assert vault.counts()[0] == 2
    (vault.root / f"models/plot/{other}.md").rename(vault.root / f"models/plot/{name}.md")
    assert sorted(vault.finds(other)) == sorted([f"models/plot/{name}.md", "models/plot/b.md"])
    assert vault.counts()[0] == 2
    assert vault.doctor() == {}
    vault.is_sound()


@pytest.mark.parametrize("name", COMPOSED)
def test_both_forms_side_by_side_are_named(vault: hard.Vault, name: str) -> None:
    vault.fill(9)
    first = vault.put(f"models/plot/{nfc(name)}.md", hard.page("marrowfat"))
    second = vault.put(f"models/plot/{nfd(name)}.md", hard.page("purslane"))
    if not second.read_text().endswith("purslane\n") or first.samefile(second):
        return  # a disk that knows one form alone
    assert vault.finds("marrowfat") == [f"models/plot/{nfc(name)}.md"]
    assert vault.finds("purslane") == [f"models/plot/{nfd(name)}.md"]
    text = vault.run("doctor").out
    assert nfc(name) in text
    assert nfd(name) in text
    assert vault.run("advance").code == 0
    assert vault.counts() == (11, 1, {"0": 1})
    assert (first.read_text(), second.read_text()) == (hard.page("marrowfat"), hard.page("purslane"))
    vault.is_sound()


@pytest.mark.parametrize("name", COMPOSED)
def test_a_model_answers_to_both_forms(vault: hard.Vault, name: str) -> None:
    assert vault.run("model", "new", nfc(name)).code == 0
    assert vault.run("model", "new", nfd(name)).code == 22
    assert vault.run("record", "-m", nfd(name), "marrowfat").code == 0
    assert vault.run("load", nfd(name)).code == 0
    assert vault.run("load", nfc(name)).code == 0
    assert vault.counts(nfc(name))[0] == 1
    assert vault.run("topic", "add", nfc(name)).code == 0
    assert vault.run("topic", "add", nfd(name)).code == 22
    names_are_legal(vault)


@pytest.mark.parametrize(
    ("one", "other"), [("Garden", "garden"), ("Straße", "STRASSE"), ("Éclair", "éclair"), ("ΣΟΦΟΣ", "σοφος")]
)
def test_names_that_differ_by_case_alone_are_taken(vault: hard.Vault, one: str, other: str) -> None:
    assert vault.run("model", "new", one).code == 0
    assert vault.run("record", "-m", one, "marrowfat").code == 0
    before = vault.bytes()
    assert vault.run("model", "new", other).code == 22
    assert vault.run("model", "rename", "plot", other).code == 22
    assert vault.bytes() == before
    assert vault.run("load", other).code == 20
    assert repr(one) in vault.run("model", "new", other).err or one in vault.run("model", "new", other).err


# Titles

LONG = {
    "ascii": "R" * 400,
    "cjk": "畑" * 150,
    "hangul": nfd("밭") * 100,
    "family": "👩‍👩‍👦" * 60,
    "flags": "🇩🇪🇫🇷" * 60,
    "skin": "👍🏽" * 90,
    "thai": "มะเขือเทศ" * 30,
    "hindi": "क्षेत्रीय" * 40,
    "arabic": "حديقة" * 60,
    "marks": "a" + "\u0301" * 300,
    "rare-cjk": "𠀋" * 90,
    "words": "why the late potatoes " * 30,
    "blanks": "a" + " " * 500 + "b",
    "dots": "." * 300 + "x",
    "last-a": "B" * 300 + "a",
    "last-b": "B" * 300 + "b",
    "bytes-255": "é" * 127 + "x",
    "url": "https://example.org/" + "a/" * 200,
}


def test_long_titles_get_whole_short_legal_names(vault: hard.Vault) -> None:
    for number, (kind, title) in enumerate(LONG.items()):
        assert vault.run("topic", "add", "--", title).code == 0, kind
        assert vault.run("entity", "add", "--", title).code == 0, kind
        assert vault.run("record", "-m", "plot", "--no-advance", "--", f"silo{number} {title}").code == 0, kind
        assert vault.run("record", "-m", "plot", "--no-advance", "--", title).code == 0, kind
        made = vault.run("model", "new", "--", title)
        assert made.code == 23, kind
        assert len(made.err) < 600
    topics = [pages.read(path.read_bytes()).text("title") for path in (vault.root / "topics").iterdir()]
    assert sorted(topics) == sorted(LONG.values())
    entities = [pages.read(path.read_bytes()).text("name") for path in (vault.root / "entities").iterdir()]
    assert sorted(entities) == sorted(LONG.values())
    assert vault.counts()[0] == 2 * len(LONG)
    for number in range(len(LONG)):
        assert len(vault.finds(f"silo{number} ")) >= 1
    names_are_legal(vault)
    vault.is_sound()


STRANGE = [
    "🚀",
    "🚀",
    "🎯",
    "物語",
    "Дом",
    "ทดสอบ",
    "บ้าน",
    "कक्षा",
    "حديقة",
    "שלום",
    "!!!",
    "...",
    "..",
    ".",
    "???",
    "---",
    "-",
    "#",
    "[[link]]",
    "a|b",
    "CON",
    "nul.txt",
    "COM1",
    "é",
    "e\u0301",
    "\u0301",
    "½",
    "№ 5",
    "C++",
    "C#",
    "<script>",
    "%%",
    "100%%",
    "tab\there",
    "line\nbreak",
    "\u202eright",
    "zero\u200bwidth",
    "\ufeffmark",
    "a\x07bell",
    "🏳️‍🌈",
    "1",
    "ﬁ",
    "ＡＢＣ",
    "~",
    "$HOME",
    "`ls`",
    "-rf",
    "--help",
    "con.",
    "'",
    '"',
    "\\",
    "/",
    "*",
    "a/b",
    "ß",
    "İ",
    "&nbsp;",
    "%20",
    "{{date}}",
    "\U000e0041tag",
]


def test_every_name_with_anything_in_it_becomes_an_entity(vault: hard.Vault) -> None:
    for name in STRANGE:
        ran = vault.run("entity", "add", "--", name)
        assert ran.code == 0, (name, ran.err)
        assert len(ran.out.splitlines()) == 1
    entities = [pages.read(path.read_bytes()) for path in (vault.root / "entities").iterdir()]
    assert sorted(entity.text("name") for entity in entities) == sorted(STRANGE)
    flagged = [entity.text("name") for entity in entities if entity.text("possible_duplicates")]
    assert "🚀" in flagged
    names_are_legal(vault)


@pytest.mark.parametrize("text", [text for text in STRANGE if text != "-"])
def test_every_text_with_anything_in_it_is_recorded(vault: hard.Vault, text: str) -> None:
    ran = vault.run("record", "-m", "plot", "--", f"{text}")
    assert ran.code == 0, ran.err
    note = next((vault.root / "models/plot").glob("2*/*.md"))
    assert pages.read(note.read_bytes()).body == text.replace("\r", "\n").rstrip()
    assert vault.run("expand", ran.out.strip()).code == 0
    ran = vault.run("topic", "add", "--", text)
    assert ran.code in {0, 23}
    names_are_legal(vault)
    vault.is_sound()


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t", "\u00a0", "\u3000\u2003"])
@pytest.mark.parametrize("words", [["record", "-m", "plot"], ["entity", "add"], ["topic", "add"], ["recall"]])
def test_nothing_is_no_text_and_no_name(vault: hard.Vault, text: str, words: list[str]) -> None:
    before = vault.bytes()
    ran = vault.run(*words, "--", text)
    assert ran.code in ({2, 23} if "add" in words else {2})
    assert ran.err.count("\n") == 1
    assert ran.out == ""
    assert vault.bytes() == before


# Names that lead elsewhere

TRAVERSALS = [
    "../../outside",
    "../outside",
    "..\\outside",
    "..\\..\\outside",
    "/tmp/pyramid-elsewhere",
    "\\tmp\\pyramid-elsewhere",
    "a/../../../b",
    "plot/../../x",
    "plot/../secret",
    "./plot",
    "plot/",
    "plot/.",
    "plot//",
    "C:\\pyramid",
    "C:/pyramid",
    "C:pyramid",
    "\\\\server\\share",
    "//server/share",
    "file:///etc/passwd",
    "~/secret",
    "~root",
    "....//....//x",
    "..%2f..%2fsecret",
    "%2e%2e/secret",
    "..",
    ".",
    ".hidden",
    "...",
    "ends with dot.",
    "ends with blank ",
    " begins",
    "CON",
    "nul",
    "aux.md",
    "com1.txt",
    "LPT9",
    "in/out ratio",
    "Why? Because: CON",
    "a|b",
    "a*b",
    "a<b",
    'a"b',
    "a#b",
    "a^b",
    "a[b]",
    "[[plot]]",
    "line\nbreak",
    "tab\tbed",
    "bell\x07",
    "zero\u200bwidth",
    "\u202eright",
    "\ufeffplot",
    "..\u2215x",
    "plot\u0000"[:4] + "\x7f",
    "..;/x",
    ".git",
    ".obsidian",
    "node_modules",
    "$RECYCLE.BIN",
    "%%x%%",
]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_name_leads_out_of_the_vault(vault: hard.Vault, name: str) -> None:
    vault.put("../secret.md", "smuggled\n")
    vault.put("../outside/secret.md", "smuggled\n")
    before, beside = vault.bytes(), outside(vault)
    legal = name == "~root"
    for words in (
        ["model", "new", "--", name],
        ["record", "--create", "-m", name, "hello"],
        ["model", "rename", "plot", "--", name],
    ):
        ran = vault.run(*words)
        assert ran.code == (0 if legal else 23), (words, ran)
        if legal:
            return
    for words in (
        ["record", "-m", name, "hello"],
        ["load", "--", name],
        ["recall", "-m", name, "x"],
        ["advance", "--", name],
    ):
        assert vault.run(*words).code in {20, 23}, words
    for words in (["expand", "--", name], ["redo", "--", name], ["confirm", "--", name]):
        if name.strip("[]") != "plot" and name not in {"./plot", "plot/", "plot//", "\ufeffplot"}:
            ran = vault.run(*words)
            assert ran.code in {2, 21}, (words, ran)
            assert "smuggled" not in ran.out + ran.err
    assert vault.bytes() == before
    ran = vault.run("topic", "add", "--", name)
    assert ran.code in {0, 23}
    if ran.code == 0:
        (card,) = (vault.root / "topics").iterdir()
        assert pages.read(card.read_bytes()).text("title") == name
    names_are_legal(vault)
    assert [each["name"] for each in vault.status()["models"]] == ["plot"]
    assert vault.counts() == (0, 0, {})
    assert outside(vault) == beside
    assert not os.path.lexists("/tmp/pyramid-elsewhere")


def test_titles_that_read_like_paths_stay_apart(vault: hard.Vault) -> None:
    paths = [name for name in TRAVERSALS if re.search(r"[/\\]", name)]
    for name in [*paths, "Why? Because: CON", "outside", "b"]:
        assert vault.run("topic", "add", "--", name).code in {0, 23}, name
    titles = [pages.read(path.read_bytes()).text("title") for path in (vault.root / "topics").iterdir()]
    assert len(set(titles)) == len(titles)
    assert {"in/out ratio", "Why? Because: CON"} <= set(titles)
    assert {"in-out-ratio.md", "why-because-con.md"} <= {path.name for path in (vault.root / "topics").iterdir()}
    names_are_legal(vault)


@pytest.mark.parametrize("name", ["../x", "/tmp/pyramid-elsewhere", "a\\b", "..", "CON", ".git", "a:b", ""])
def test_an_import_makes_no_such_model(vault: hard.Vault, name: str) -> None:
    beside = outside(vault)
    lines = [
        {"model": name, "text": "lost"},
        {"models": ["plot", name], "text": "lost too"},
        {"model": "plot", "text": "kept"},
    ]
    source = vault.root.parent / "in.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = hard.Ran(*_many_lines(vault, "import", "jsonl", str(source)))
    assert ran.code == 1
    assert vault.finds("kept")
    assert vault.finds("lost") == []
    assert [each["name"] for each in vault.status()["models"]] == ["plot"]
    assert {path: data for path, data in outside(vault).items() if path != str(source)} == beside


def _many_lines(vault: hard.Vault, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        vault.words(*words), capture_output=True, env=vault.environ(), timeout=hard.BOUND, check=False
    )
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("body", ["![[../../secret]]", "![[/etc/passwd]]", "![[..\\..\\secret]]", "![[../secret.md]]"])
def test_an_embed_reads_nothing_outside(vault: hard.Vault, body: str) -> None:
    vault.put("../secret.md", "smuggled\n")
    vault.fill(10)
    vault.put("models/plot/a.md", body)
    assert vault.problems() == ["models/plot/a.md"]
    for words in (["load", "plot"], ["expand", "a"], ["recall", "secret"], ["map"], ["advance"], ["load", "plot"]):
        ran = vault.run(*words)
        assert ran.code == 0
        assert "smuggled" not in ran.out
    assert vault.counts() == (11, 1, {"0": 1})
    vault.is_sound()


# Links of the disk


def test_links_lead_nowhere_and_end(vault: hard.Vault) -> None:
    vault.note("iris", "iris by the pond")
    vault.put("../outside/secret.md", hard.page("smuggled"))
    vault.put("../outside/tier-0/x-t0-0001-aaaa.md", hard.page("smuggled"))
    plot = vault.root / "models/plot"
    links = {
        "loop": ".",
        "up": "..",
        "self": "self",
        "out": "../../../outside",
        "alias.md": "iris.md",
        "gone.md": "nowhere.md",
        "root": "/",
        "tier-0": "../../../outside/tier-0",
        "retired": "../../../outside",
        "deep": "loop/loop/loop",
        "abs.md": str(vault.root.parent / "outside/secret.md"),
        "to-settings.md": "../../pyramid.toml",
    }
    for name, target in links.items():
        (plot / name).symlink_to(target)
    (vault.root / "models/linked").symlink_to("../../outside")
    (vault.root / "models/twin").symlink_to("plot")
    (vault.root / "topics").symlink_to("../outside")
    (vault.root / "models/plot/month").mkdir()
    (vault.root / "models/plot/month/back").symlink_to("../..")
    beside = outside(vault)
    assert vault.finds("iris") == ["models/plot/iris.md"]
    assert vault.finds("smuggled") == []
    assert vault.counts() == (1, 1, {})
    assert [each["name"] for each in vault.status()["models"]] == ["plot"]
    for name in ("linked", "twin"):
        assert vault.run("load", name).code == 20
        assert vault.run("record", "-m", name, "hello").code == 20
        assert vault.run("record", "--create", "-m", name, "hello").code in {20, 22, 23, 24}
        assert vault.run("advance", name).code == 20
    assert vault.run("expand", "secret").code == 21
    assert "smuggled" not in vault.run("doctor").out
    vault.is_sound()
    assert outside(vault) == beside


@pytest.mark.parametrize("where", ["2*", "tier-0", "retired", "topics", "entities"])
def test_nothing_is_written_through_a_link(vault: hard.Vault, where: str) -> None:
    vault.fill(10)
    (vault.root.parent / "elsewhere").mkdir()
    beside = outside(vault)
    if where == "2*":
        assert vault.run("record", "-m", "plot", "--no-advance", "hello").code == 0
        (month,) = (vault.root / "models/plot").glob("2*")
        (note,) = month.iterdir()
        note.unlink()
        month.rmdir()
        month.symlink_to(vault.root.parent / "elsewhere")
        assert vault.run("record", "-m", "plot", "--no-advance", "hello again").code in {24, 40}
    elif where in {"topics", "entities"}:
        (vault.root / where).symlink_to(vault.root.parent / "elsewhere")
        assert vault.run("topic" if where == "topics" else "entity", "add", "hello").code in {24, 40}
    else:
        (vault.root / "models/plot" / where).symlink_to(vault.root.parent / "elsewhere")
        assert vault.run("advance").code in ({24, 40} if where == "tier-0" else {0})
    assert outside(vault) == beside


def test_a_vault_may_lie_behind_a_link(vault: hard.Vault) -> None:
    vault.note("iris", "iris by the pond")
    behind = hard.Vault(vault.root.parent / "behind", vault.cache, vault.config)
    behind.root.symlink_to(vault.root)
    assert behind.finds("iris") == ["models/plot/iris.md"]
    assert behind.run("record", "-m", "plot", "peony by the wall").code == 0
    assert behind.run("topic", "add", "walls").code == 0
    assert vault.counts()[0] == 2
    assert len(vault.finds("peony")) == 1


def test_what_is_no_file_is_no_note(vault: hard.Vault) -> None:
    vault.note("iris", "iris by the pond")
    plot = vault.root / "models/plot"
    os.mkfifo(plot / "pipe.md")
    os.mkfifo(vault.root / "models/loose.md")
    vault.put("models/plot/folder.md/inner.md", hard.page("peony by the wall"))
    (vault.root / "ledger").mkdir()
    os.mkfifo(vault.root / "ledger/pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(plot, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket.md" if Path("/proc/self/fd").exists() else str(plot / "s.md"))
        os.close(here)
        assert vault.process("recall", "--json", "iris").hits == ["models/plot/iris.md"]
        assert vault.process("recall", "--json", "peony").hits == ["models/plot/folder.md/inner.md"]
        assert vault.counts()[0] == 2
        for words in (["doctor"], ["map"], ["load", "plot"], ["advance"], ["verify"], ["status"]):
            assert vault.process(*words).code in {0, 1}
    vault.is_sound()


@pytest.mark.parametrize(
    "name",
    [
        b"caf\xe9.md",
        b"\xff\xfe.md",
        b"bell\x07.md",
        b"line\nbreak.md",
        b"tab\t.md",
        b'quote".md',
        b"star*.md",
        b"back\\slash.md",
        b"#hash^.md",
        b"[brackets].md",
        b" blank.md",
        b"trailing .md",
        b"con.md",
        b"'.md",
        b"%s%d.md",
        b"-rf.md",
        b"--help.md",
        b"a|b.md",
        b"a:b.md",
        b"<b>.md",
        b"\xe2\x80\xae.md",
        b"e" * 250 + b".md",
    ],
)
def test_a_name_of_any_bytes_does_no_harm(vault: hard.Vault, name: bytes) -> None:
    vault.fill(9)
    (vault.root / "models/plot" / os.fsdecode(name)).write_bytes(b"celeriac\n")
    ran = vault.run("recall", "--json", "celeriac")
    assert (ran.code, len(ran.hits)) == (0, 1)
    assert vault.counts()[0] == 10
    for words in (
        ["load", "plot"],
        ["load", "plot", "--json"],
        ["map"],
        ["map", "--json"],
        ["doctor"],
        ["status"],
        ["advance"],
        ["load", "plot"],
    ):
        ran = vault.run(*words)
        assert ran.code == 0 or words == ["doctor"], (words, ran)
    problem = len(vault.problems())
    assert vault.counts()[1] == problem or vault.counts() == (10, 10, {})
    vault.is_sound()


# What a person types

BAD_SETTINGS = {
    "format = 'x'\n": (11, "format"),
    "format = 0\n": (11, "format"),
    "format = true\n": (11, "format"),
    "format = 1\n[view]\nchars = 'many'\n": (2, "view.chars"),
    "format = 1\n[view]\nchars = 0\n": (2, "view.chars"),
    "format = 1\n[view]\nchars = -5\n": (2, "view.chars"),
    "format = 1\nview = 5\n": (2, "view"),
    "format = 1\n[pyramid]\nbatch_notes = 0\n": (2, "pyramid.batch_notes"),
    "format = 1\n[pyramid]\nbatch_notes = 2.5\n": (2, "pyramid.batch_notes"),
    "format = 1\n[pyramid]\nbatch_chars = 1.5\n": (2, "pyramid.batch_chars"),
    "format = 1\n[pyramid]\nfan_in = 1\n": (2, "pyramid.fan_in"),
    "format = 1\n[pyramid]\ntarget_chars = []\n": (2, "pyramid.target_chars"),
    "format = 1\n[pyramid]\ntarget_chars = ['a']\n": (2, "pyramid.target_chars"),
    "format = 1\n[pyramid]\ntarget_chars = [600, -1]\n": (2, "pyramid.target_chars"),
    "format = 1\n[pyramid]\ntarget_chars = 600\n": (2, "pyramid.target_chars"),
    "format = 1\n[pyramid]\ntarget_chars = [true]\n": (2, "pyramid.target_chars"),
    "format = 1\n[settle]\nseconds = '30'\n": (2, "settle.seconds"),
    "format = 1\n[settle]\nseconds = 1e300\n": (2, "settle.seconds"),
    "format = 1\n[settle]\nrevised_hours = nan\n": (2, "settle.revised_hours"),
    "format = 1\n[settle]\nseconds = -1\n": (2, "settle.seconds"),
    "format = 1\ntimezone = 'Mars/Base'\n": (2, "timezone"),
    "format = 1\ntimezone = '../../etc/passwd'\n": (2, "timezone"),
    "format = 1\ntimezone = ''\n": (2, "timezone"),
    "format = 1\ntimezone = 2\n": (2, "timezone"),
    "format = 1\nformat = 1\n": (2, "pyramid.toml"),
    "format = \n": (2, "pyramid.toml"),
    "<<<<<<< HEAD\nformat = 1\n=======\n": (2, "pyramid.toml"),
}


@pytest.mark.parametrize("text", BAD_SETTINGS)
def test_wrong_settings_name_file_and_key(vault: hard.Vault, text: str) -> None:
    vault.put("pyramid.toml", text)
    code, key = BAD_SETTINGS[text]
    for words in (["status"], ["record", "-m", "plot", "hello"], ["recall", "x"], ["advance"]):
        ran = vault.run(*words)
        assert ran.code == code, ran
        assert "pyramid.toml" in ran.err
        assert key in ran.err
        assert ran.out == ""


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("default_vault = 5\n", "default_vault"),
        ("[summarizer]\nkind = 'gpt'\n", "summarizer.kind"),
        ("[summarizer]\nkind = 'command'\n", "summarizer.command"),
        ("[summarizer]\nkind = 'command'\ncommand = 'llm'\n", "summarizer.command"),
        ("[summarizer]\nkind = 'command'\ncommand = [1]\n", "summarizer.command"),
        ("[summarizer]\ntimeout = 0\n", "summarizer.timeout"),
        ("[summarizer]\ntimeout = 'long'\n", "summarizer.timeout"),
        ("[summarizer]\ntimeout = nan\n", "summarizer.timeout"),
        ("[summarizer]\ntimeout = inf\n", "summarizer.timeout"),
        ("[advance]\nbackground = 'no'\n", "advance.background"),
        ("summarizer = 'x'\n", "summarizer"),
        ("[vaults]\na = 1\n", "vaults"),
        ("[summarizer\n", "config.toml"),
    ],
)
def test_a_wrong_configuration_names_file_and_key(vault: hard.Vault, text: str, key: str) -> None:
    vault.config.write_text(text)
    for words in (["status"], ["advance"]):
        ran = vault.run(*words)
        assert ran.code == 2, ran
        assert "config.toml" in ran.err
        assert key in ran.err


def test_an_unknown_setting_is_a_warning_that_names_the_closest(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n[pyramid]\nbatch_note = 3\n")
    ran = vault.run("status", "--json")
    assert ran.code == 0
    assert "batch_note" in ran.err
    assert "batch_notes" in ran.err
    assert ran.json["vault"] == str(vault.root)


def test_a_newer_format_is_read_and_never_written(vault: hard.Vault) -> None:
    vault.fill(10)
    vault.put("procedures/net-x7q2.md", hard.page("Net the currants.", "status: pending"))
    vault.put("pyramid.toml", "format = 2\n[pyramid]\nbatch_notes = 'other'\n[new]\nx = 1\n")
    before = vault.bytes()
    for words in (
        ["recall", "--json", "hand3"],
        ["status", "--json"],
        ["map", "--json"],
        ["load", "plot", "--json"],
        ["expand", "row1", "--json"],
    ):
        ran = vault.run(*words)
        assert ran.code == 0, words
        assert ran.json
    for words in (
        ["record", "-m", "plot", "x"],
        ["advance"],
        ["model", "new", "x"],
        ["model", "rename", "plot", "x"],
        ["topic", "add", "x"],
        ["entity", "add", "x"],
        ["confirm", "net-x7q2"],
        ["redo", "row1"],
        ["model", "archive", "plot"],
        ["model", "describe", "plot", "x"],
        ["model", "unarchive", "plot"],
    ):
        ran = vault.run(*words)
        assert (ran.code, ran.err.count("\n")) == (11, 1), (words, ran)
    assert vault.bytes() == before


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "notes", "settings-folder", "settings-pipe"])
def test_what_is_no_vault_stays_as_it_is(vault: hard.Vault, kind: str) -> None:
    other = hard.Vault(vault.root.parent / "other", vault.cache, vault.config)
    if kind == "file":
        other.root.write_text("x")
    elif kind != "missing":
        other.root.mkdir()
    if kind == "notes":
        other.put("models/plot/a.md", "hello")
    if kind == "settings-folder":
        (other.root / "pyramid.toml").mkdir()
    if kind == "settings-pipe":
        os.mkfifo(other.root / "pyramid.toml")
    for words in (
        ["record", "-m", "plot", "hello"],
        ["record", "--create", "-m", "x", "hello"],
        ["recall", "hello"],
        ["advance"],
        ["status"],
        ["verify"],
        ["doctor"],
        ["map"],
        ["load", "plot"],
        ["expand", "a"],
        ["topic", "add", "a"],
    ):
        ran = other.run(*words)
        assert ran.code == 10, (words, ran)
        assert "init" in ran.err
        assert ran.out == ""
    assert not other.root.exists() or kind == "file" or set(other.bytes()) <= {"models/plot/a.md"}


@pytest.mark.parametrize(
    "words",
    [
        ["record", "-m", "plt", "hello"],
        ["load", "plto"],
        ["load", "plot", "gardn"],
        ["recall", "-m", "Plot", "x"],
        ["advance", "plots"],
        ["model", "archive", "pot"],
        ["model", "rename", "plo", "x"],
        ["record", "-m", "plot", "-m", "plop", "hello"],
        ["model", "fold", "plot", "plut"],
    ],
)
def test_an_unknown_model_lists_the_closest_and_writes_nothing(vault: hard.Vault, words: list[str]) -> None:
    vault.put("models/garden/a.md", "leeks")
    before = vault.bytes()
    ran = vault.run(*words)
    assert (ran.code, ran.out) == (20, "")
    assert "the closest: " in ran.err
    assert "plot" in ran.err or "garden" in ran.err
    assert vault.bytes() == before


def test_handles_of_nothing_and_of_several(vault: hard.Vault) -> None:
    vault.put("models/plot/a/beans.md", "climbing beans")
    vault.put("models/plot/b/beans.md", "dwarf beans")
    vault.put("models/yard/beans.md", "yard beans")
    assert vault.run("expand", "nothing").code == 21
    ran = vault.run("expand", "beans")
    assert ran.code == 21
    for path in ("models/plot/a/beans", "models/plot/b/beans", "models/yard/beans"):
        assert path in ran.err
    for link in (
        "a/beans",
        "[[b/beans]]",
        "yard/beans",
        "yard/beans.md",
        "[[models/yard/beans|those]]",
        "a\\beans",
        "models/plot/a/beans.md",
    ):
        assert vault.run("expand", link).code == 0, link
    for words in (["redo", "a/beans"], ["confirm", "a/beans"]):
        assert vault.run(*words).code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["recal", "x"],
        ["record"],
        ["record", "-m"],
        ["record", "x"],
        ["load"],
        ["expand"],
        ["recall"],
        ["recall", "-n", "0", "x"],
        ["recall", "-n", "x", "y"],
        ["recall", "--since", "yesterday", "x"],
        ["recall", "--tier", "one", "x"],
        ["load", "plot", "--tier", "one"],
        ["load", "plot", "--tier", "-1"],
        ["load", "plot", "--chars", "0"],
        ["load", "plot", "--page", "0"],
        ["record", "-m", "plot", "--created", "someday", "x"],
        ["record", "-m", "plot", "--created", "2026-02-30", "x"],
        ["advance", "--limit", "0"],
        ["--nonsense"],
        ["recall", "--kind", "nonsense", "x"],
        ["recall", "-only", "-minus"],
        ["load", "plot", "--tier", "99999999999"],
        ["recall", "--until", "2026-13-40", "x"],
        ["model", "fold", "plot", "plot"],
        ["import", "jsonl", "nowhere"],
        ["import", "markdown", "nowhere"],
        ["model", "nonsense"],
        ["import", "nonsense", "x"],
    ],
)
def test_words_that_are_no_request_are_one_line(vault: hard.Vault, words: list[str]) -> None:
    vault.note("a", "romanesco")
    before = vault.bytes()
    ran = vault.run(*words)
    assert ran.code in ({2} if words != ["load", "plot", "--tier", "99999999999"] else {0, 2}), ran
    assert vault.bytes() == before


@pytest.mark.parametrize("given", [b"\xff\xfe", b"caf\xe9", b"a\0b", b"", b" \n", b"\x89PNG\r\n\x1a\n\0"])
def test_a_text_that_is_none_is_refused_from_standard_input(vault: hard.Vault, given: bytes) -> None:
    before = vault.bytes()
    ran = vault.process("record", "-m", "plot", "-", given=given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert vault.bytes() == before


@pytest.mark.slow
def test_words_of_any_bytes_on_the_command_line(vault: hard.Vault) -> None:
    given: tuple[list[str | bytes], ...] = (
        ["record", "-m", "plot", b"caf\xe9"],
        ["record", "-m", b"pl\xff", "x"],
        ["recall", b"\xff"],
        ["expand", b"\xff"],
        ["load", b"\xff"],
        ["model", "new", b"\xff"],
        ["topic", "add", b"\xff"],
        ["entity", "add", b"\xff"],
    )
    for words in given:
        done = subprocess.run(
            [*vault.words(), *words], capture_output=True, env=vault.environ(), timeout=hard.BOUND, check=False
        )
        assert b"Traceback" not in done.stderr
        assert done.stderr.count(b"\n") <= 1
        assert done.returncode in {0, 2, 20, 21, 23} if words[0] == "recall" else done.returncode in {2, 20, 21, 23}, (
            words,
            done,
        )
    names_are_legal(vault)


def test_json_has_the_keys_of_the_contract(vault: hard.Vault) -> None:
    vault.fill(12)
    vault.put("models/plot/bad.md", "---\na: b: c\n---\nromanesco\n")
    assert vault.run("advance", "--json").json["written"]
    hits = vault.run("recall", "--json", "hand3").json
    assert {"hits", "next"} <= set(hits)
    assert {"handle", "path", "kind", "models", "tier", "created", "text", "score"} <= set(hits["hits"][0])
    status = vault.run("status", "--json").json
    assert {"vault", "models", "problems", "index", "watcher"} <= set(status)
    assert {"name", "notes", "tail", "summaries", "due", "revised", "waiting"} <= set(status["models"][0])
    assert set(status["problems"][0]) >= {"path", "reason"}
    assert {"files", "indexed"} <= set(status["index"])
    verify = vault.run("verify", "--json").json
    assert {"balances", "models", "faults"} <= set(verify)
    assert {"name", "notes", "covered", "tail", "missing", "revised"} <= set(verify["models"][0])
    assert {"path", "reason", "fix"} <= set(vault.run("doctor", "--json").json["problems"][0])
    handle = vault.summaries()[0].stem
    for words in (
        ["map"],
        ["load", "plot"],
        ["expand", handle],
        ["record", "-m", "plot", "new"],
        ["redo", handle],
        ["model", "list"],
        ["model", "new", "n"],
        ["model", "rename", "n", "m"],
        ["model", "archive", "m"],
        ["model", "unarchive", "m"],
        ["topic", "add", "t"],
        ["entity", "add", "e"],
        ["advance", "--dry-run"],
        ["model", "describe", "m", "x"],
        ["model", "fold", "m", "plot"],
    ):
        ran = vault.run(*words, "--json")
        assert ran.code == 0, words
        assert ran.json.get("vault", str(vault.root)) == str(vault.root)
        assert '"/' not in ran.out.replace(json.dumps(str(vault.root)), ""), "paths are relative"
