"""The proof: recomputes every sum from the files alone, with nothing of what grows the pyramid."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyramid_fs import files, layout
from pyramid_fs.errors import NotAVault, Problem
from pyramid_fs.verify.checks import FAULTS, REMARKS
from pyramid_fs.verify.reading import Model, Note, Summary, Vault, read_model, tombstones
from pyramid_fs.verify.rule import ModelSum, Pyramid, by_handle, prove, settled, sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo
    from pathlib import Path


__all__ = ["Model", "ModelSum", "Note", "Pyramid", "Report", "Summary", "Vault", "as_text", "verify"]


@dataclass(frozen=True, slots=True)
class Report:
    """The proof's answer: a fault breaks it, a remark is named and balances all the same."""

    balances: bool
    models: tuple[ModelSum, ...] = ()
    faults: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()


def verify(root: Path, zone: tzinfo) -> Report:
    """Prove the vault at `root` from its files alone; times without a zone are taken in `zone`.

    Raise NotAVault where there is no vault (or it is not mounted), DiskError where its top folders can't be read.
    """
    if layout.SETTINGS not in files.names(root, "."):
        raise NotAVault(f"{root} holds no {layout.SETTINGS} (not mounted?): nothing is taken as deleted")
    vault = Vault({}, frozenset(tombstones(root)))
    models = _all_settled([read_model(root, name, zone) for name in files.subfolders(root, layout.MODELS)], vault)
    vault = replace(vault, paths=_paths(models))
    pyramids = [prove(model, vault) for model in models]
    faults = _run(FAULTS, pyramids)
    return Report(not faults, tuple(sum_of(pyramid) for pyramid in pyramids), faults, _run(REMARKS, pyramids))


def _all_settled(models: Sequence[Model], vault: Vault) -> list[Model]:
    named = by_handle(note for model in models for note in model.notes)
    found = ((model, (settled(note, named, vault) for note in model.notes)) for model in models)
    return [replace(model, notes=tuple(note for note in notes if note)) for model, notes in found]


def _paths(models: Sequence[Model]) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = defaultdict(list)
    for model in models:
        held: tuple[Note | Summary, ...] = (*model.notes, *model.summaries)
        for file in held:
            paths[file.handle].append(file.path)
    return paths


def _run(checks: Iterable[Callable[[Pyramid], Iterator[Problem]]], pyramids: Sequence[Pyramid]) -> tuple[Problem, ...]:
    return tuple(sorted({problem for check in checks for pyramid in pyramids for problem in check(pyramid)}))


_NEXT = (
    "Next: git or a backup holds such a file as it was written; `pyramid doctor --retire HANDLE` gives a summary up, "
    "and what it covered is read again."
)


def as_text(report: Report, vault: str) -> str:
    """Write the sums, one line a model, then faults and remarks; the last line says whether the vault balances."""
    lines = [_line(found, report.faults) for found in report.models]
    lines += [f"{path}: {reason}" for path, reason, _ in (*report.faults, *report.remarks)]
    count = len(report.faults)
    lines += [_NEXT] if count else []
    answer = "balances" if report.balances else f"does not balance: {count} {'fault' if count == 1 else 'faults'}"
    return "\n".join([*lines, f"{vault} {answer}"]) + "\n"


def _line(found: ModelSum, faults: Sequence[Problem]) -> str:
    top = f"{layout.MODELS}/{found.name}"
    mark = "✗" if any(f"{fault.path}/".startswith(f"{top}/") for fault in faults) else "✓"
    counts = [(getattr(found, key), key) for key in ("missing", "revised", "history", "absent", "forgotten")]
    beside = "".join(f", {count:,} {key}" for count, key in counts if count)
    return f"{found.name}: {found.notes:,} notes = {found.covered:,} covered + {found.tail:,} tail {mark}{beside}"
