"""Text that looks like a key or a password is told; prose is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyramid_fs import leaks

# no real keys: each is put together here, so that no scanner finds one in this file
SECRETS = {
    "AWS Access Key": "AKIA" + "IOSFODNN7EXAMPLQ",
    "GitHub Token": "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fH3jL5",
    "Private Key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "Basic Auth Credentials": "postgres://admin:" + "hunter2hunter2@db.example.org/main",
    "Secret Keyword": "password: " + "correct-horse-battery",
    "Slack Token": "xoxb-" + "2345678901-2345678901-aBcDeFgHiJkLmNoPqRsTuVwX",
    "Stripe Access Key": "sk_live_" + "aB3dE5gH7jK9mN1pQ3sT5vW7",
    "JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_named_by_its_kind_wherever_it_stands_in_the_text(kind: str) -> None:
    assert kind in leaks.find(SECRETS[kind])
    assert kind in leaks.find(f"The deploy runs at night.\nUse {SECRETS[kind]}\nand tell nobody.")


def test_several_kinds_are_named_once_each() -> None:
    found = leaks.find("\n".join([*SECRETS.values(), *SECRETS.values()]))
    assert set(SECRETS) <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "text",
    [
        "Alice prefers the morning train.",
        "The password manager is the one that Bob recommended.",
        "See https://example.org/a/long/path/to/an/article-about-tokens for how a token is made.",
        "Der Ausweis mit der Nummer steht im Ordner. 暗証番号は変えました。",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b broke the build",
        "2026-11-29-201530-prefers-the-morning-train-k3f9",
    ],
)
def test_prose_is_no_secret(text: str) -> None:
    assert leaks.find(text) == []


def test_the_rules_are_not_loaded_for_a_text_that_breaks_none() -> None:
    script = (
        "import sys\nfrom pyramid_fs import leaks\nleaks.find('Alice is here.')\nprint('detect_secrets' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"
