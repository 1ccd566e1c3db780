"""Where things lie: what a path is, and which names the store makes."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import times
from pyramid_fs.errors import IllegalName
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from datetime import datetime

SETTINGS = "pyramid.toml"
MODELS = "models"
LEDGER = "ledger"
RETIRED = "retired"
SHAPES = {"topics": Kind.TOPIC, "sessions": Kind.SESSION, "entities": Kind.ENTITY, "procedures": Kind.PROCEDURE}
FOLDERS = (MODELS, *SHAPES, LEDGER)

NAME_BYTES = 120
"""The longest name that the store makes: leaves room for what sync tools append, on disks that hold 255."""
SLUG_BYTES = 60
WORDS = 8
"""So many first words of a note stand in its name, so that a person finds it."""
SUFFIX = 4
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"

_SUMMARY = re.compile(r".+-t(\d{1,3})-(\d{1,9})-[0-9a-z]{4}")
_TIER = re.compile(r"tier-(\d{1,3})")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|#^\[\]]|%%')
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?", re.IGNORECASE)
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}(-[A-Z0-9]{7})?$"  # Syncthing
    r"|\((([^()]|\([^()]*\))*\b)?(conflicted copy|in konflikt stehende kopie|copie en conflit|copia en conflicto)\b"
    r"([^()]|\([^()]*\))*(\d{4}-\d\d-\d\d|\d{8,14})[^()]*(\(\d+\))?\)( ?\(\d+\))?$"  # Dropbox, Nextcloud, Obsidian Sync
    r"|_conflict-\d{8}-\d{6}$"  # ownCloud
    r"|_[a-z]{3}-\d\d-\d{4}-\d{4}_[a-z]*conflict(_\d+)?$"  # Synology Drive
    r"|\((case|selective sync|unicode encoding) conflict( \d+)?\)$"  # Dropbox
    r"|\(SFConflict [^()]+\)$",  # Seafile
    re.IGNORECASE,
)
_COPIED = re.compile(
    r"(.+?)([ _]\d{1,2}|[ _]?\(\d{1,2}\)"  # iCloud, Google Drive, downloads
    r"|[ _-]+(?i:copy|kopie|copie|copia|cópia)([ _]\d{1,2}|[ _]?\(\d{1,2}\))?"  # desktops
    r"|-(?=[0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]+)"  # OneDrive: the machine's name
)
_PATH_LIKE = re.compile(r"^[.~]*[/\\]|^[A-Za-z]:|\\|(?:^|/)\.+(?:/|$)|/$|//")
_JUNK = re.compile(r"^~\$|^~syncthing~", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\.(.+\.md)\.icloud", re.IGNORECASE)


class Place(NamedTuple):
    """What a path is."""

    kind: Kind
    model: str = ""
    """The folder's name for what lies in `models/`."""
    tier: int = -1


def place(path: str) -> Place | None:
    """Say what the file at `path` (relative to the vault) is; None for what the store never reads.

    It is said by where the file lies, never by what is in it, but for a card that lies in a folder of another name:
    that one is known by its `type`.
    """
    parts = path.split("/")
    if not is_markdown(parts[-1]):
        return None
    if parts[0] in SHAPES:
        return Place(SHAPES[parts[0]])
    if parts[0] != MODELS or len(parts) < 3:  # noqa: PLR2004
        return None
    model, stem = parts[1], handle(path)
    tier = _TIER.fullmatch(parts[2]) if len(parts) > 3 else None  # noqa: PLR2004
    if tier:
        made = _SUMMARY.fullmatch(stem) if len(parts) == 4 else None  # noqa: PLR2004
        named = made is not None and int(made[1]) == int(tier[1])
        return Place(Kind.SUMMARY if named else Kind.STRAY, model, int(tier[1]))
    if parts[2] == RETIRED and len(parts) > 3:  # noqa: PLR2004
        return Place(Kind.RETIRED if _SUMMARY.fullmatch(stem) else Kind.STRAY, model)
    if len(parts) == 3 and same_name(stem, model):  # noqa: PLR2004
        return Place(Kind.CARD, model)
    return Place(Kind.NOTE, model)


def handle(path: str) -> str:
    """Give a file's handle: its name without `.md`, NFC."""
    return unicodedata.normalize("NFC", path.rsplit("/", 1)[-1][:-3])


def same_name(one: str, other: str) -> bool:
    """Whether two names are one to a disk that folds case and composition."""
    return folded(one) == folded(other)


def folded(name: str) -> str:
    """Fold a name as such a disk does."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_markdown(name: str) -> bool:
    """Whether a file is one that a person or the store wrote to be read.

    Dot files, temp files, what editors and sync tools leave behind and conflict copies are not.
    """
    if not name.endswith(".md") and not name.lower().endswith(".md"):
        return False
    if name[0] == "." or len(name) < 4:  # noqa: PLR2004
        return False
    if name[0] != "~" and name.isascii() and "onfli" not in name.lower():  # every mark of a conflict has these letters
        return True
    return not _JUNK.search(name) and not is_conflict_copy(name)


def is_conflict_copy(name: str) -> bool:
    """Whether a sync tool made the file: its name says so in the form that the tool gives it, not in passing."""
    stem = re.sub(r"\.md$", "", name, flags=re.IGNORECASE)
    return stem != name and bool(_CONFLICT.search(stem))


def original_of(name: str) -> str:
    """Give the name of the file that a conflict copy was made of; of any other name, nothing."""
    stem, dot, ending = name.rpartition(".")
    found = _CONFLICT.search(stem)
    return f"{stem[: found.start()].rstrip()}{dot}{ending}" if found and stem[: found.start()].strip() else ""


def copied_from(name: str) -> str:
    """Give the handle that a handle is with what desktops and some sync tools add to a copy's: it proves nothing."""
    found = _COPIED.fullmatch(name)
    return found[1] if found else ""


def placeholder_of(name: str) -> str:
    """Give the name of the file that a cloud placeholder stands for; empty for any other file."""
    found = _PLACEHOLDER.fullmatch(name)
    return found[1] if found else ""


def is_tool_folder(name: str) -> bool:
    """Whether a folder is no one's notes: dot folders, and what some tools add without a dot."""
    return name.startswith(".") or name in {"node_modules", "__pycache__", "$RECYCLE.BIN", "@eaDir"}


def legal(name: str, limit: int = SLUG_BYTES) -> str:
    """Give a name that a person chose for a model, NFC, or raise IllegalName that says what is wrong with it."""
    name = unicodedata.normalize("NFC", name)
    reason = _illegal(name, limit)
    if reason:
        shown = name if len(name) <= SLUG_BYTES else f"{name[:SLUG_BYTES]}…"
        raise IllegalName(f"{shown!r} can't be a name: {reason}")
    return name


def _illegal(name: str, limit: int) -> str:
    if not any(unicodedata.category(letter)[0] in "LNS" for letter in name):
        return "it holds no letter or digit"
    if found := _FORBIDDEN.search(name):
        return f"{found[0]!r} is not allowed in file names or links"
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"} for letter in name):
        return "it holds an invisible character"
    if name[0] in ". " or name[-1] in ". ":
        return "it begins or ends with a dot or a blank"
    if _RESERVED.fullmatch(name):
        return "Windows keeps that name for itself"
    if is_tool_folder(name):
        return "tools use that name"
    size = len(name.encode())
    return f"it is {size} bytes long, and {limit} is the most" if size > limit else ""


def slug(title: str, limit: int = SLUG_BYTES) -> str:
    """Turn a title into a name: letters, digits and symbols of any script, lower case, joined by hyphens.

    Cut at a whole letter; a cut slug ends in a mark of the whole title, so that two long titles stay two. Empty where
    the title has nothing to name it by.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    kept = "".join(letter if _in_slug(letter) else "-" for letter in text)
    name = _without_leading_marks(re.sub(r"-+", "-", kept).strip("-"))
    if len(name.encode()) <= limit:
        return name
    mark = digest_suffix(title)
    return f"{shorten(name, limit - len(mark) - 1).strip('-')}-{mark}".lstrip("-")


def _without_leading_marks(name: str) -> str:
    """Drop accents that have no letter to stand on: they would join whatever stands before the name."""
    start = next((at for at, it in enumerate(name) if it != "-" and unicodedata.category(it)[0] != "M"), len(name))
    return name[start:]


@lru_cache(maxsize=4096)
def _in_slug(letter: str) -> bool:
    category = unicodedata.category(letter)
    return category[0] in "LN" or (category in {"Mn", "Mc", "So"} and letter not in "\ufe0e\ufe0f")


def shorten(text: str, limit: int) -> str:
    """Cut a text to `limit` bytes of UTF-8 at a whole letter, its marks included."""
    if len(text.encode()) <= limit:
        return text
    cut = len(text.encode()[:limit].decode(errors="ignore"))
    while cut and unicodedata.category(text[cut])[0] == "M":
        cut -= 1
    return text[:cut]


def topic_slug(title: str) -> str:
    """Make a topic's slug, or raise IllegalName.

    A title that reads like a path gets a mark of the whole title: `../x` and `/x` are two topics, and neither is `x`.
    """
    made = legal(slug(title))
    if not _PATH_LIKE.search(title):
        return made
    mark = digest_suffix(unicodedata.normalize("NFC", title))
    return f"{shorten(made, SLUG_BYTES - SUFFIX - 1).strip('-')}-{mark}"


def note_path(model: str, created: datetime, text: str, suffix: str) -> str:
    """Make a note's path: a folder a month, the time in UTC, the first words, the suffix."""
    mark = times.stamp(created)
    words = _words_slug(text[:400])
    room = NAME_BYTES - len(f"{mark}--{suffix}.md")
    words = shorten(words, min(room, SLUG_BYTES)).strip("-") or "note"
    return f"{MODELS}/{model}/{mark[:7]}/{mark}-{words}-{suffix}.md"


@lru_cache(maxsize=8)
def _words_slug(text: str) -> str:
    """Give the first words of a text as a name; one note asks for them several times."""
    return slug(" ".join(re.sub(r"https?://\S+", " ", text).split()[:WORDS]), 10**9)


def words_of(name: str) -> str:
    """Give back the words in a note's name, for the name of its embed."""
    return re.sub(r"^\d{4}-\d\d-\d\d-\d{6}-|-[0-9a-z]{4}$", "", name)


def summary_path(model: str, tier: int, batch: int, suffix: str) -> str:
    """Make a summary's path; a folder's name that no link could hold gives only its letters."""
    name = unicodedata.normalize("NFC", model)
    if _illegal(name, SLUG_BYTES):
        name = slug(name) or "model"
    return f"{MODELS}/{model}/tier-{tier}/{name}-t{tier}-{batch:04d}-{suffix}.md"


def batch_of(path: str) -> int:
    """Read the number in a summary's name."""
    made = _SUMMARY.fullmatch(handle(path))
    return int(made[2]) if made else 0


def shape_path(kind: Kind, name: str, suffix: str, day: str = "") -> str:
    """Make the path of a session, entity or procedure."""
    folder = next(folder for folder, shape in SHAPES.items() if shape is kind)
    words = slug(name) or str(kind)
    return f"{folder}/{f'{day}-' if day else ''}{words}-{suffix}.md"


def card_path(model: str) -> str:
    """Give the path of a model's card."""
    return f"{MODELS}/{model}/{model}.md"


def digest_suffix(*parts: str) -> str:
    """Make a suffix from what identifies a thing, so that two machines make the same name."""
    number = int.from_bytes(hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).digest()[:8])
    return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(SUFFIX))
