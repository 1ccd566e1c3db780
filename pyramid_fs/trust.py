"""Prompts of a vault's own: which there are, and which of them a person has read and trusts on this machine."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyramid_fs import files
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, RefusedWrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FOLDER = "prompts"
NAMES = ("notes", "rollups")
"""What is asked of notes, and of summaries."""
KEPT = "trusted.json"
"""Beside `config.toml`: `{vault: {prompt: SHA-256 of its bytes}}`."""
MOST = 20_000
"""Characters of a prompt: what is longer is no set of rules, and nobody reads it before trusting it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a vault's own."""

    name: str
    text: str
    digest: str
    is_trusted: bool
    problem: str = ""
    """Why it can't be used, whoever trusts it."""

    @property
    def path(self) -> str:
        """Where it lies in the vault."""
        return f"{FOLDER}/{self.name}.md"


def prompts(root: Path, kept: Path) -> list[Prompt]:
    """Read the prompts of the vault at `root`, and from `kept` which are trusted: by their very bytes."""
    if not (root / FOLDER).is_dir():
        return []
    trusted = _trusted(kept).get(str(root))
    digests = trusted if isinstance(trusted, dict) else {}
    return [prompt for name in NAMES if (prompt := _prompt(root, name, digests.get(name)))]


def _prompt(root: Path, name: str, trusted: object) -> Prompt | None:
    path = root / FOLDER / f"{name}.md"
    if path.is_symlink() or path.parent.is_symlink():  # it may show a file of the person's own
        return Prompt(name, "", "", is_trusted=False, problem="it is a link, which is not followed")
    try:
        data = files.read(path)
    except FileNotFoundError:
        return None
    except DiskError as error:
        return Prompt(name, "", "", is_trusted=False, problem=str(error))
    text, problem = pages.decode(data)
    if not text.strip() and not problem:
        return None
    if len(text) > MOST:
        problem = f"it is longer than {MOST:,} characters"
    digest = hashlib.sha256(data).hexdigest()
    return Prompt(name, text, digest, is_trusted=digest == trusted and not problem, problem=problem)


def templates(found: Iterable[Prompt]) -> tuple[str, str]:
    """Give what is used for notes and for roll-ups; empty where ours is."""
    texts = {prompt.name: prompt.text for prompt in found if prompt.is_trusted}
    return texts.get(NAMES[0], ""), texts.get(NAMES[1], "")


def warnings(found: Sequence[Prompt]) -> tuple[str, ...]:
    """Say which prompts are not used, and what to do about it."""
    odd = [f"{prompt.path} is not used: {prompt.problem}" for prompt in found if prompt.problem]
    new = [prompt.path for prompt in found if not prompt.is_trusted and not prompt.problem]
    if not new:
        return tuple(odd)
    are = "are not used: nobody has trusted them" if len(new) > 1 else "is not used: nobody has trusted it"
    return (*odd, f"{' and '.join(new)} {are} on this machine as now written: pyramid trust")


def trust(root: Path, kept: Path, shown: Iterable[Prompt]) -> None:
    """Remember prompts as they were shown; RefusedWrite where what is remembered can't be read."""
    path = kept.resolve()  # it may be a link into a folder of dotfiles
    digests = {prompt.name: prompt.digest for prompt in shown if not prompt.problem}
    try:
        old = files.read(path)
    except FileNotFoundError:
        old = None
    vaults = _parsed(old) if old else {}
    if vaults is None:
        raise RefusedWrite(f"{path} can't be parsed: nothing was written; mend or remove it first")
    before = vaults.get(str(root))
    new = {**vaults, str(root): {**(before if isinstance(before, dict) else {}), **digests}}
    data = (json.dumps(new, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode("utf-8", "surrogateescape")
    if old is not None:
        files.replace(path, data, old)
        return
    try:
        files.create(path, data)
    except ExistsAlready:
        raise RefusedWrite(f"{path} changed since it was read: nothing was written; try again") from None


def _trusted(kept: Path) -> dict[str, Any]:
    """Read what is trusted: nothing, where that can't be read."""
    try:
        return _parsed(files.read(kept)) or {}
    except (FileNotFoundError, DiskError):
        return {}


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
