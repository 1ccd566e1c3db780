"""The part of `Memory` that looks back: the memory as it was, and what changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyramid_fs.census import Census
    from pyramid_fs.vault import Vault


class Past:
    """What `Memory` says of days gone by."""

    vault: Vault
    census: Census
