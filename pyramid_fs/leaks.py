"""Warns of text that looks like a key or a password, by the rules of detect-secrets."""

from __future__ import annotations

import re

_WORTH_A_LOOK = re.compile(
    r"[A-Za-z0-9+/_=.-]{16,}|passw|passphrase|\bpwd\b|secret|token|api.?key|private key|://[^/\s]+:[^/\s]+@",
    re.IGNORECASE,
)
"""The rules take 0.2 s to import; a text without any of these breaks none of them."""


def find(text: str) -> list[str]:
    """List what kinds of secret a text seems to hold; empty where none, or where the rules can't be had."""
    if not _WORTH_A_LOOK.search(text):
        return []
    from detect_secrets.core.scan import scan_line
    from detect_secrets.plugins.keyword import KeywordDetector
    from detect_secrets.settings import transient_settings

    typed, kinds = KeywordDetector(), []
    with transient_settings({"plugins_used": [{"name": name} for name in _PLUGINS]}):
        for line in text.splitlines():
            if not _WORTH_A_LOOK.search(line):
                continue  # the rules take half a millisecond a line
            kinds += [found.type for found in scan_line(line)]
            # people type `password: …` without quotes, as in YAML
            kinds += [found.type for found in typed.analyze_line("note.yaml", line, 1)]
    return list(dict.fromkeys(kinds))


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
