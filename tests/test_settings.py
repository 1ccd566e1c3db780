"""Settings say what is wrong with them by file and key, and what runs programs is a person's alone."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.errors import UnknownFormat, UsageError
from pyramid_fs.pyramid import Shape
from pyramid_fs.settings import (
    Config,
    Curation,
    ExtractorSettings,
    Settings,
    Shown,
    SummarizerSettings,
    read_person,
    read_vault,
)

ZONES: dict[str, tzinfo] = {"UTC": UTC, "Far/East": timezone(timedelta(hours=14))}
TOML = "/vault/pyramid.toml"
OWN = "/home/ada/.config/config.toml"


def vault(text: str) -> Settings:
    return read_vault(text, TOML, ZONES.__getitem__)


def person(text: str, at: str = "/home/ada/Memory", home: str = "/home/ada") -> Config:
    return read_person(text, OWN, at, home)


# The vault's


def test_only_the_format_is_required() -> None:
    assert vault("format = 1\n") == Settings()
    assert vault("format = 1\r\n# remark\r\n") == Settings()


def test_every_setting_of_the_vault_is_read() -> None:
    assert vault(
        """
        format = 1
        timezone = "Far/East"
        [pyramid]
        batch_notes = 4
        batch_chars = 900
        fan_in = 2
        target_chars = [100, 200]
        [view]
        chars = 5000
        boot_chars = 600
        [context]
        topics = 1
        entities = 2
        notes = 3
        [settle]
        seconds = 1.5
        revised_hours = 0
        [curation]
        admit = 1
        prune_below = 0.25
        prune_after_days = 7
        """
    ) == Settings(
        zone=ZONES["Far/East"],
        zone_name="Far/East",
        shape=Shape(4, 900, 2, (100, 200), timedelta(seconds=1.5), timedelta(0)),
        view_chars=5000,
        boot_chars=600,
        shown=Shown(1, 2, 3),
        curation=Curation(1.0, 0.25, timedelta(days=7)),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[context]\ntopics = -1", "`context.topics` must be 0 or more, not -1"),
        ("[curation]\nadmit = 1.5", "`curation.admit` must be from 0 to 1, not 1.5"),
        ("[curation]\nprune_below = -0.1", "`curation.prune_below` must be from 0 to 1, not -0.1"),
        ("[curation]\nprune_after_days = -1", "`curation.prune_after_days` must be 0 or more"),
    ],
)
def test_numbers_of_the_bundle_and_of_curation_make_sense(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        vault(f"format = 1\n{text}\n")


def test_the_defaults_of_a_shape_are_those_of_the_format() -> None:
    assert vault("format = 1").shape == Shape()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("timezon = 'UTC'", "`timezon` is no setting; did you mean `timezone`?"),
        ("[piramid]\nfan_in = 3", "`piramid` is no setting; did you mean `pyramid`?"),
        ("[pyramid]\nbatch_note = 3", "`pyramid.batch_note` is no setting; did you mean `batch_notes`?"),
        ("[view]\nqqq = 3", "`view.qqq` is no setting"),
        ("[summarizer]\nkind = 'command'\ncommand = ['rm']", "`summarizer` is no setting"),
        ("[extractor]\ncommand = ['rm']", "`extractor` is no setting"),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_closest_known_one(text: str, warning: str) -> None:
    found = vault(f"format = 1\n{text}\n")
    assert found.warnings == (f"{TOML}: {warning}",)
    assert found.shape == Shape()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("timezone = 1", "`timezone` must be a text, not 1"),
        ("timezone = 'Mars/Base'", "`timezone`: there is no time zone 'Mars/Base'"),
        ("pyramid = 3", "`pyramid` must be a table, not 3"),
        ("[pyramid]\nbatch_notes = 'ten'", "`pyramid.batch_notes` must be a whole number, not 'ten'"),
        ("[pyramid]\nbatch_notes = 2.5", "`pyramid.batch_notes` must be a whole number, not 2.5"),
        ("[pyramid]\nbatch_notes = true", "`pyramid.batch_notes` must be a whole number, not True"),
        ("[pyramid]\nbatch_notes = 0", "`pyramid.batch_notes` must be above 0, not 0"),
        ("[pyramid]\nbatch_chars = -1", "`pyramid.batch_chars` must be above 0, not -1"),
        ("[pyramid]\nfan_in = 1", "`pyramid.fan_in` must be at least 2"),
        ("[pyramid]\ntarget_chars = 600", "`pyramid.target_chars` must be a list of numbers, not 600"),
        ("[pyramid]\ntarget_chars = ['a']", "`pyramid.target_chars` must be a list of numbers"),
        ("[pyramid]\ntarget_chars = [true]", "`pyramid.target_chars` must be a list of numbers"),
        ("[pyramid]\ntarget_chars = [600, 0]", "`pyramid.target_chars` must be a list of numbers above 0"),
        ("[pyramid]\ntarget_chars = []", "`pyramid.target_chars` must be a list of numbers above 0"),
        ("[view]\nchars = inf", "`view.chars` must be a whole number"),
        ("[view]\nchars = 0", "`view.chars` must be above 0, not 0"),
        ("[view]\nboot_chars = 0", "`view.boot_chars` must be above 0, not 0"),
        ("[context]\nnotes = '3'", "`context.notes` must be a whole number, not '3'"),
        ("[settle]\nseconds = '30'", "`settle.seconds` must be a number, not '30'"),
        ("[settle]\nseconds = -1", "`settle.seconds` must be 0 or more"),
        ("[settle]\nseconds = nan", "`settle.seconds` must be 0 or more"),
        ("[settle]\nseconds = inf", "`settle.seconds` must be 0 or more and less than a century"),
        ("[settle]\nrevised_hours = 1e7", "`settle.revised_hours` must be 0 or more and less than a century"),
        ("[settle]\nrevised_hours = 1e300", "`settle.revised_hours` must be 0 or more and less than a century"),
        ("[curation]\nadmit = false", "`curation.admit` must be a number, not False"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_and_key(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        vault(f"format = 1\n{text}\n")
    assert str(caught.value).startswith(f"{TOML}: {reason}")


@pytest.mark.parametrize(
    "text", ["format = ", "format = 1\nformat = 1", "a = " + "[" * 100_000, f"a = {'9' * 5000}", "\0", "a = 2026-02-30"]
)
def test_what_is_not_toml_is_an_error_that_names_the_file(text: str) -> None:
    with pytest.raises(UsageError, match=rf"^{TOML} can't be parsed: "):
        vault(text)


@pytest.mark.parametrize("version", ["0", "-1", "true", '"1"', "1.0", "[1]"])
def test_a_format_that_is_no_number_is_refused(version: str) -> None:
    with pytest.raises(UnknownFormat, match=r"`format` must be 1, not"):
        vault(f"format = {version}")


def test_a_vault_of_a_newer_format_is_read_as_far_as_it_is_understood_and_never_written() -> None:
    found = vault('format = 2\ntimezone = "Far/East"\n[pyramid]\nfan_in = "many"\n[view]\nchars = 5000\n')
    assert found.read_only
    assert (found.zone_name, found.view_chars, found.shape.fan_in) == ("Far/East", 5000, 5)
    assert not vault("format = 1").read_only


# A person's


def test_without_settings_summaries_are_extractive_and_made_in_the_background() -> None:
    assert person("") == Config()
    assert Config().summarizer == SummarizerSettings("extractive", (), "", 120.0)


def test_every_setting_of_a_person_is_read() -> None:
    found = person(
        """
        default_vault = "~/Memory"
        [summarizer]
        kind = "command"
        command = ["llm", "--tools", "", "-m", "small"]
        model = " small "
        base_url = "https://models.example.org/v1"
        key_command = ["pass", "show", "llm"]
        timeout = 7.5
        concurrency = 64
        calls_per_day = 9
        attempts = 1
        fallback = "none"
        [advance]
        background = false
        [extractor]
        kind = "openai"
        command = ["finder", ""]
        model = " tiny "
        base_url = "http://localhost:11434/v1"
        key_command = ["pass", "show", "finder"]
        timeout = 3
        """
    )
    assert found == Config(
        "~/Memory",
        SummarizerSettings(
            kind="command",
            command=("llm", "--tools", "", "-m", "small"),
            model="small",
            timeout=7.5,
            calls_per_day=9,
            base_url="https://models.example.org/v1",
            key_command=("pass", "show", "llm"),
            concurrency=64,
            attempts=1,
            fallback="none",
        ),
        background=False,
        extractor=ExtractorSettings(
            kind="openai",
            command=("finder", ""),
            model="tiny",
            timeout=3.0,
            base_url="http://localhost:11434/v1",
            key_command=("pass", "show", "finder"),
        ),
    )


@pytest.mark.parametrize(
    ("path", "at", "home"),
    [
        ("~/Work", "/home/ada/Work", "/home/ada"),
        ("/home/ada/Work", "/home/ada/Work", "/home/ada"),
        ("/home/ada/Work/", "/home/ada/Work", "/home/ada"),
        ("~/Work", "C:\\Users\\ada\\Work", "C:\\Users\\ada"),
        ("C:/Users/ada/Work", "C:\\Users\\ada\\Work", "C:\\Users\\ada"),
    ],
)
def test_one_vault_may_have_a_summarizer_of_its_own(path: str, at: str, home: str) -> None:
    text = f"""
        [summarizer]
        model = "small"
        command = []
        timeout = 10
        [vaults."{path}".summarizer]
        kind = "command"
        command = ["llm"]
        timeout = 2.5
        """
    assert person(text, at, home).summarizer == SummarizerSettings("command", ("llm",), "small", 2.5)
    assert person(text, "/elsewhere", home).summarizer == SummarizerSettings("extractive", (), "small", 10.0)


def test_one_vault_may_have_an_extractor_of_its_own_beside_its_summarizer() -> None:
    text = """
        [extractor]
        kind = "openai"
        model = "tiny"
        timeout = 9
        [vaults."~/Work".extractor]
        kind = "command"
        command = ["finder"]
        [vaults."~/Work".summarizer]
        kind = "none"
        """
    found = person(text, "/home/ada/Work")
    assert found.extractor == ExtractorSettings("command", ("finder",), "tiny", 9.0)
    assert found.summarizer == SummarizerSettings("none")
    assert person(text, "/elsewhere").extractor == ExtractorSettings("openai", model="tiny", timeout=9.0)
    assert person("").extractor == ExtractorSettings("rules", (), "", 120.0)


def test_a_vaults_table_without_a_summarizer_changes_nothing() -> None:
    assert person('[vaults."~/Memory"]\n') == Config()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("default_valt = 'x'", "`default_valt` is no setting; did you mean `default_vault`?"),
        ("[summarizer]\ncomand = ['x']", "`summarizer.comand` is no setting; did you mean `command`?"),
        ("[extractor]\ncomand = ['x']", "`extractor.comand` is no setting; did you mean `command`?"),
        ("[vaults.'/v'.extractor]\nkint = 1", '`vaults."/v".extractor.kint` is no setting; did you mean `kind`?'),
        ("[vaults.'/v']\nsummariser = 1", '`vaults."/v".summariser` is no setting; did you mean `summarizer`?'),
        ("[vaults.'/v'.summarizer]\nkint = 1", '`vaults."/v".summarizer.kint` is no setting; did you mean `kind`?'),
    ],
)
@pytest.mark.parametrize("at", ["/v", "/elsewhere"])
def test_an_unknown_key_of_a_persons_is_a_warning_too(text: str, warning: str, at: str) -> None:
    assert person(text, at) == Config(warnings=(f"{OWN}: {warning}",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("default_vault = 1", "`default_vault` must be a text, not 1"),
        ("[summarizer]\ncommand = 'llm'", "`summarizer.command` must be a list of texts, not 'llm'"),
        ("[summarizer]\ncommand = ['llm', 3]", "`summarizer.command` must be a list of texts"),
        ("[summarizer]\nkind = 'command'", "`summarizer.command` must name a program"),
        ("[summarizer]\nkind = 'command'\ncommand = ['']", "`summarizer.command` must name a program"),
        (
            "[summarizer]\nkind = 'magic'",
            "`summarizer.kind` must be extractive, command, openai, anthropic or none, not 'magic'",
        ),
        ("[summarizer]\nkind = 'openai'", "`summarizer.model` must name a model of openai's"),
        ("[summarizer]\nkind = 'anthropic'\nmodel = ' '", "`summarizer.model` must name a model of anthropic's"),
        ("[summarizer]\ncommand = ['', 'x']", "`summarizer.command` must begin with a program"),
        ("[summarizer]\nkey_command = ['', 'x']", "`summarizer.key_command` must begin with a program"),
        ("[summarizer]\nkey_command = 'pass'", "`summarizer.key_command` must be a list of texts, not 'pass'"),
        ("[summarizer]\nconcurrency = 0", "`summarizer.concurrency` must be 1 to 64, not 0"),
        ("[summarizer]\nconcurrency = 65", "`summarizer.concurrency` must be 1 to 64, not 65"),
        ("[summarizer]\nattempts = 0", "`summarizer.attempts` must be above 0, not 0"),
        ("[summarizer]\nfallback = 'magic'", "`summarizer.fallback` must be extractive or none, not 'magic'"),
        ("[summarizer]\nbase_url = 3", "`summarizer.base_url` must be a text, not 3"),
        ("[summarizer]\nbase_url = 'localhost:11434'", "`summarizer.base_url` must be an address as in http://"),
        ("[summarizer]\nbase_url = 'ftp://host/v1'", "`summarizer.base_url` must be an address as in http://"),
        ("[summarizer]\nbase_url = 'https:///v1'", "`summarizer.base_url` must be an address as in http://"),
        ("[summarizer]\nbase_url = 'https://a b/v1'", "`summarizer.base_url` must be an address as in http://"),
        ("[summarizer]\nbase_url = 'https://host:x/v1'", "`summarizer.base_url` is no address (Port could not be"),
        ("[summarizer]\nbase_url = 'https://[::1/v1'", "`summarizer.base_url` is no address (Invalid IPv6 URL)"),
        ("[summarizer]\nbase_url = 'https://ada:k3f9@host.org'", "`summarizer.base_url` must hold no user or password"),
        (
            "[summarizer]\nbase_url = 'http://models.example.org/v1'",
            "`summarizer.base_url`: http is for this machine and private networks; write https://models.example.org",
        ),
        ("[summarizer]\nbase_url = 'http://8.8.8.8/v1'", "`summarizer.base_url`: http is for this machine"),
        ("[summarizer]\ntimeout = 0", "`summarizer.timeout` must be above 0 seconds"),
        ("[summarizer]\ntimeout = nan", "`summarizer.timeout` must be above 0 seconds"),
        ("[summarizer]\ntimeout = inf", "`summarizer.timeout` must be above 0 seconds"),
        ("[summarizer]\nattempts = 1.5", "`summarizer.attempts` must be a whole number, not 1.5"),
        ("[extractor]\ncommand = 'finder'", "`extractor.command` must be a list of texts, not 'finder'"),
        ("[extractor]\nkind = 'command'", "`extractor.command` must name a program"),
        ("[extractor]\ncommand = ['', 'x']", "`extractor.command` must begin with a program"),
        ("[extractor]\nkey_command = ['', 'x']", "`extractor.key_command` must begin with a program"),
        ("[extractor]\nkind = 'none'", "`extractor.kind` must be rules, command, openai or anthropic, not 'none'"),
        ("[extractor]\nkind = 'openai'", "`extractor.model` must name a model of openai's"),
        ("[extractor]\nbase_url = 'ftp://host/v1'", "`extractor.base_url` must be an address as in http://"),
        ("[extractor]\nbase_url = 'http://8.8.8.8/v1'", "`extractor.base_url`: http is for this machine"),
        ("[extractor]\ntimeout = 0", "`extractor.timeout` must be above 0 seconds"),
        ("[vaults.'/v']\nextractor = 1", '`vaults."/v".extractor` must be a table, not 1'),
        ("[vaults.'/v'.extractor]\nkind = 'magic'", "`extractor.kind` must be"),
        ("[advance]\nbackground = 'no'", "`advance.background` must be true or false, not 'no'"),
        ("vaults = 1", "`vaults` must be a table, not 1"),
        ("[vaults]\n'/v' = 1", '`vaults."/v"` must be a table, not 1'),
        ("[vaults.'/v']\nsummarizer = 'x'", "`vaults.\"/v\".summarizer` must be a table, not 'x'"),
        ("[vaults.'/v'.summarizer]\ncommand = 1", '`vaults."/v".summarizer.command` must be a list of texts, not 1'),
        ("[vaults.'/v'.summarizer]\nkind = 'magic'", "`summarizer.kind` must be"),
    ],
)
def test_a_wrong_value_of_a_persons_is_an_error_that_names_file_and_key(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        person(text, "/v")
    assert str(caught.value).startswith(f"{OWN}: {reason}")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_vendor_s_model_is_asked_at_the_vendor_s_address_unless_another_is_named(kind: str) -> None:
    found = person(f"[summarizer]\nkind = '{kind}'\nmodel = 'small'\n").summarizer
    assert found == SummarizerSettings(kind, model="small")
    assert (found.base_url, found.key_command, found.concurrency, found.attempts) == ("", (), 4, 3)
    assert found.fallback == "extractive"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://127.0.0.1:1/v1",
        "http://[::1]:8000/v1",
        "http://192.168.1.7/v1",
        "http://10.0.0.1/v1",
        "http://[fd00::1]/v1",
        "http://ollama:11434/v1",
        "http://box.lan/v1",
        "http://box.local./v1",
        "http://host.docker.internal:1234/v1",
        "https://models.example.org/v1",
        "HTTPS://models.example.org/v1",
    ],
)
def test_an_address_is_encrypted_or_near(url: str) -> None:
    assert person(f"[summarizer]\nbase_url = '{url}'\n").summarizer.base_url == url


@given(st.text(st.sampled_from("abf=1.\"[]{}\n,'#-e+:T ü\\")))
def test_any_text_is_settings_or_an_error_of_ours(text: str) -> None:
    for read in (vault, person):
        with suppress(UsageError, UnknownFormat):
            assert isinstance(read(text), (Settings, Config))
