"""The verb `setup git`: what a clone of a vault is told, so that its merges ask no question."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pyramid_fs import clients, files, mending, vault
from pyramid_fs.cli.common import verb
from pyramid_fs.errors import DiskError, RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyramid_fs.memory import Memory

NAME = "pyramid_fs: of two texts both are kept, of two summaries one"
QUIET = (
    r"sed -e '/^digests:$/d' -e '/^dates:$/d' -e '/^  - .[0-9a-f]\{16\}.$/d'"
    r" -e '/^  - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9:.]*Z$/d'"
)
"""Leaves digests and dates out of the diffs that are shown: of a summary there are its links, and a sentence a line."""
HEADINGS = "^#{1,6}[ \\t].*$"
COPIES = ":(top,glob)**/*(git conflicted copy *).md"
SHELLS = re.compile(rb"#![ \t]*\S*/(env[ \t]+)?(ba|da|k|z)?sh\b")
HEAD = "#!/bin/sh\n"
PRE_COMMIT = """\
# what a merge laid beside a text belongs to the next commit, but for one of named files alone
case "${GIT_INDEX_FILE##*/}" in
  next-index-*) ;;
  *) git add -- '@COPIES@' 2>/dev/null || : ;;
esac
"""
PRE_PUSH = """\
if ! pyramid_said=$(@VERIFY@ </dev/null 2>&1); then
  printf '%s\\n' "$pyramid_said" "pyramid: the sum above does not balance (this is pushed all the same)" >&2
fi
if [ -n "$(git status --porcelain -- '@COPIES@')" ]; then
  echo "pyramid: conflict copies are not committed yet: git add -A && git commit" >&2
fi
"""
PRE_RECEIVE = """\
#!/bin/sh
# Refuses a push after which the sums of the vault would not balance: hooks/pre-receive of a bare repository.
# Where this server has pyramid elsewhere, put its path here; `pip install pyramid-fs` in a venv is enough.
verify() {
  PYRAMID_CACHE_DIR="$work/cache" PYRAMID_CONFIG="$work/config.toml" @VERIFY@
}
none=$(git hash-object --stdin </dev/null | tr '0-9a-f' 0)
code=0
while read -r old new ref; do
  case "$new $ref" in
    "$none "*) continue ;;
    *" refs/heads/"*) ;;
    *) continue ;;
  esac
  work=$(mktemp -d) || exit 1
  mkdir "$work/tree"
  if ! { GIT_INDEX_FILE="$work/index" git read-tree "$new" &&
    GIT_INDEX_FILE="$work/index" git --work-tree="$work/tree" checkout-index -q -a; } ||
    ! said=$(verify </dev/null 2>&1); then
    printf '%s\\n' "$said" "pyramid: $ref is refused: what it holds does not balance; nothing was pushed" >&2
    code=1
  fi
  rm -rf "$work"
done
exit $code
"""


class Clone(NamedTuple):
    """A vault's git repository, as git says."""

    git: mending.Git
    top: Path
    prefix: str
    """Where the vault lies below the top, with a slash at its end; empty at the top."""
    hooks: Path
    hooks_from: str
    """`core.hooksPath`, empty where hooks lie where git puts them."""


class Option(NamedTuple):
    """A setting of the clone; None stands for none."""

    key: str
    before: str | None
    after: str | None


class Script(NamedTuple):
    """A file that becomes another; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None


class Plan(NamedTuple):
    """All that is to be changed, and what is to be said of the rest."""

    options: list[Option]
    files: list[Script]
    said: list[str]


# The verb


@click.command("git")
@click.option(
    "--remote-hook", is_flag=True, help="Print a pre-receive hook for the remote: it verifies what is pushed."
)
@click.option("--remove", is_flag=True, help="Take out again what was set up.")
@click.option("--write", is_flag=True, help="Make the changes instead of showing them only.")
@verb(answers=False)
def set_up_git(memory: Memory, remote_hook: bool, remove: bool, write: bool) -> None:
    """Have this clone merge without a question: the merge driver, diffs by sentence, a check before a push."""
    clone = _clone(memory.vault.root)
    if remote_hook:
        click.echo(PRE_RECEIVE.replace("@VERIFY@", _verify('"$work/tree"', clone)), nl=False)
        return
    planned = _planned(clone, remove=remove)
    for line in planned.said:
        click.echo(f"pyramid: {line}", err=True)
    if not planned.options and not planned.files:
        click.echo(f"git is {'not set up' if remove else 'set up already'}: {clone.top}")
        return
    click.echo("\n".join(_shown(planned)))
    count = f"{len(planned.options) + len(planned.files)} changes"
    if not write:
        click.echo(f"pyramid: nothing was written yet; --write makes {count}", err=True)
        return
    memory.vault.write_allowed()
    _make(clone, planned)
    then = "" if remove else "\nNext: commit .gitattributes; each other clone is set up by the same command"
    click.echo(f"\nDone ({count}).{then}")


def _clone(root: Path) -> Clone:
    if not mending.looks_in_git(root):
        raise UsageError(f"{root} lies in no git repository: `git init {shlex.quote(str(root))}` makes one")
    git = mending.Git(root)
    top = git.line("rev-parse", "--show-toplevel")
    if not top:
        raise DiskError(f"git does not answer: `git -C {shlex.quote(str(root))} status` says why")
    hooks_from = git.line("config", "--get", "core.hooksPath")
    hooks = root / git.line("rev-parse", "--git-path", "hooks")
    return Clone(git, Path(top), git.line("rev-parse", "--show-prefix"), Path(os.path.normpath(hooks)), hooks_from)


def _words() -> list[str]:
    return [sys.executable, "-P", "-m", "pyramid_fs"]


def _line(words: Sequence[str]) -> str:
    """Spell words for the shell that git runs commands by: its own on Windows, where it takes forward slashes."""
    return shlex.join(word.replace("\\", "/") if os.name == "nt" else word for word in words)


def _verify(top: str, clone: Clone) -> str:
    """Spell the proof of a vault whose repository begins at `top`, a word of the shell."""
    below = f"/{shlex.quote(clone.prefix.rstrip('/'))}" if clone.prefix else ""
    return f"{_line(_words())} --vault {top}{below} verify"


# Plan


def _planned(clone: Clone, *, remove: bool) -> Plan:
    options = [
        Option(key, before, after)
        for key, value in _options().items()
        if (before := _option(clone, key)) != (after := None if remove else value) and (before == value or not remove)
    ]
    attributes = clone.git.folder / ".gitattributes"
    said: list[str] = []
    texts = [] if remove else [_with_attributes(attributes)]
    texts += list(_hooks(clone, said, remove=remove))
    return Plan(options, [text for text in texts if text.before != text.after], said)


def _options() -> dict[str, str]:
    driver = _line([*_words(), "git", "merge-driver"]).replace("%", "%%")
    return {
        "merge.pyramid.name": NAME,
        mending.DRIVER: f"{driver} %O %A %B %P",
        # what two histories began from is no place to lay copies beside
        "merge.pyramid.recursive": "binary",
        # a note written here in a folder that was renamed there goes along
        "merge.directoryRenames": "true",
        "diff.markdown.xfuncname": HEADINGS,
        "diff.markdown.textconv": QUIET,
    }


def _option(clone: Clone, key: str) -> str | None:
    found = clone.git("config", "--local", "--get", key)
    return None if found is None else os.fsdecode(found).rstrip("\n")


def _with_attributes(path: Path) -> Script:
    before = _read(path)
    try:
        text = (before or b"").decode()
    except UnicodeDecodeError:
        raise RefusedWrite(f"{path} is not UTF-8 text: nothing was written; save it as UTF-8 first") from None
    return Script(path, before, vault.with_attributes(text).encode())


def _hooks(clone: Clone, said: list[str], *, remove: bool) -> Iterator[Script]:
    if clone.hooks_from:
        said.append(f"git takes its hooks from {clone.hooks_from} (core.hooksPath), so none is put there")
        return
    verify = _verify('"$(git rev-parse --show-toplevel)"', clone)
    blocks = {"pre-commit": PRE_COMMIT, "pre-push": PRE_PUSH}
    for name, block in blocks.items():
        path = clone.hooks / name
        before = _read(path)
        text = block.replace("@COPIES@", COPIES).replace("@VERIFY@", verify)
        if before is not None and (reason := _unfit(path, before)):
            said.append(f"{path} stays as it is: {reason}")
            continue
        yield Script(path, before, _with_block(before, clone.prefix, "" if remove else text))


def _unfit(path: Path, data: bytes) -> str:
    """Say why nothing can be added to a hook of a person's; empty where it can."""
    if not SHELLS.match(data):
        return "it is no shell script, so nothing can be added to it"
    return "" if os.access(path, os.X_OK) else "it is not executable, so git does not run it"


def _with_block(before: bytes | None, prefix: str, block: str) -> bytes | None:
    """Put our lines below a hook's first line, or take them out; None where nothing else is left.

    They come first: what follows may end the script, or ask for what git says on standard input.
    """
    text = (before or b"").decode("utf-8", "surrogateescape")
    start, end = (f"# {mark} pyramid_fs: {prefix or '.'} {mark}\n" for mark in (">>>", "<<<"))
    bare = re.sub(rf"^{re.escape(start)}.*?^{re.escape(end)}", "", text, flags=re.DOTALL | re.MULTILINE)
    if not block:
        return None if bare.strip() in {"", HEAD.strip()} else bare.encode("utf-8", "surrogateescape")
    first, _, rest = (bare or HEAD).partition("\n")
    return f"{first}\n{start}{block}{end}{rest}".encode("utf-8", "surrogateescape")


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


# Show, or make


def _shown(planned: Plan) -> Iterator[str]:
    for key, before, after in planned.options:
        yield from (f"{sign}git config {key} {value!r}" for sign, value in (("-", before), ("+", after)) if value)
    for script in planned.files:
        yield clients.shown(str(script.path), _text(script.before), _text(script.after))


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _make(clone: Clone, planned: Plan) -> None:
    for key, _, after in planned.options:
        words = ("--unset-all", key) if after is None else ("--replace-all", key, after)
        if clone.git("config", "--local", *words) is None:
            raise DiskError(
                f"git can't write {key} to the configuration of {clone.top}: `git config --local -l` says why"
            )
    for script in planned.files:
        _put(script)
        if script.after is not None and script.path.parent == clone.hooks:
            script.path.chmod(0o755)


def _put(script: Script) -> None:
    if script.after is None:
        script.path.unlink(missing_ok=True)
    elif script.before is None:
        files.create(script.path, script.after)
    else:
        files.replace(script.path, script.after, script.before)
