"""Warns of text that looks like a key or a password, by the rules of detect-secrets."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORTH_A_LOOK = re.compile(
    r"[A-Za-z0-9+/_=.-]{16,}|passw|passphrase|\bpwd\b|secret|token|api.?key|private key|://[^/\s]+:[^/\s]+@",
    re.IGNORECASE,
)
"""The rules take 0.2 s to import; a text without any of these breaks none of them."""
_MODEL_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")
"""Keys of the vendors of models, whatever their middle says."""
LONG, AROUND, MARKS = 2_000, 100, 50
"""Characters of a line that is looked at whole; of a longer one, so many around each of so many marks."""


def find(text: str) -> list[str]:
    """List what kinds of secret a text seems to hold; empty where none, or where the rules can't be had."""
    if not _WORTH_A_LOOK.search(text):
        return []
    from detect_secrets.core.scan import scan_line
    from detect_secrets.plugins.keyword import KeywordDetector
    from detect_secrets.settings import transient_settings

    typed = KeywordDetector()
    kinds = ["API Key"] if _MODEL_KEY.search(text) else []
    with transient_settings({"plugins_used": [{"name": name} for name in _PLUGINS]}):
        for line in text.splitlines():
            for part in _parts(line):  # the rules take half a millisecond a line, and far more for a long one
                kinds += [found.type for found in scan_line(part)]
                # people type `password: …` without quotes, as in YAML
                kinds += [found.type for found in typed.analyze_line("note.yaml", part, 1)]
    return list(dict.fromkeys(kinds))


def _parts(line: str) -> Iterator[str]:
    """Yield what of a line is worth a look: all of a line of common length, else what stands around each mark."""
    if len(line) <= LONG:
        if _WORTH_A_LOOK.search(line):
            yield line
        return
    for mark in islice(_WORTH_A_LOOK.finditer(line), MARKS):
        yield line[max(0, mark.start() - AROUND) : min(mark.end(), mark.start() + LONG) + AROUND]


_PLUGINS = (
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "CloudantDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "JwtTokenDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)
