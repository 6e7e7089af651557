import json
from urllib.parse import quote

import pytest

from hookline._core.credentials import secrets_in
from hookline.journal.plain import line_of
from hookline.journal.redact import NO_SECRETS, Redactor

PLENTY = 1_000_000
SECRET = 'p"a\\s/s é\n&word'


def redacted(value: object, **secrets: str) -> object:
    return json.loads(Redactor(secrets).redacted(line_of(value, limit=PLENTY)))


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        quote(SECRET, safe=""),
    ],
    ids=["as it is", "json", "json, readable", "json in json", "json with an escaped slash", "url"],
)
@pytest.mark.parametrize("around", ["", "\ud800"], ids=["fast", "spelled out"])
def test_a_secret_is_found_in_every_spelling(spelling: str, around: str) -> None:
    """A secret is replaced by its name as it is, as JSON within a text spells it, and as a URL does."""
    assert {"k": f"a [redacted:KEY] b{around}"} == redacted({"k": f"a {spelling} b{around}"}, KEY=SECRET)


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ({"sk-12345678": 1}, {"[redacted:KEY]": 1}),
        (["sk-12345678sk-12345678"], ["[redacted:KEY][redacted:KEY]"]),
        ({"a": "nothing here"}, {"a": "nothing here"}),
        ({"a": "sk-1234567."}, {"a": "sk-1234567."}),
        ({"a": "it begins like"}, {"a": "it begins like"}),
    ],
    ids=["member name", "twice", "nothing", "almost", "its beginning is not half of it yet"],
)
def test_a_secret_is_found_wherever_it_stands(value: object, want: object) -> None:
    """Names of members count like texts, and what only looks like a secret stands."""
    assert want == redacted(value, KEY="sk-12345678", LONG="it begins like this and goes on for twice as long")


def test_a_secret_of_digits_is_found_in_a_number() -> None:
    """A number that holds a secret becomes a text with its name."""
    assert redacted({"pin": -1123456780.5, "n": 1}, PIN="12345678") == {"pin": "-1[redacted:PIN]0.5", "n": 1}


def test_a_secret_that_was_cut_off_is_found() -> None:
    """Texts are cut before they are written, so a secret's first half at the end of one counts as the secret."""
    assert redacted("key: sk-abcdef12345", KEY="sk-abcdef1234567890") == "key: [redacted:KEY]"


def test_the_longer_of_two_secrets_goes_first() -> None:
    """A secret that another one begins with does not leave the rest of it."""
    assert redacted("sk-12345678-and-more", A="sk-12345678", B="sk-12345678-and-more") == "[redacted:B]"


def test_a_mark_holds_no_secret() -> None:
    """Where the name or the mark itself is the secret, something else stands in its place."""
    assert redacted("a MY_TOKEN b", MY_TOKEN="MY_TOKEN") == "a [redacted] b"
    assert redacted("a redacted b", WORD="redacted") == "a *** b"


def test_the_formats_own_names_stand() -> None:
    """A secret that is a plain word does not make the file unreadable: names of members keep such a word."""
    assert redacted({"provider": "provider"}, DB="provider") == {"provider": "[redacted:DB]"}


def test_structure_is_never_taken_for_a_secret() -> None:
    """A secret made of quotes and colons is replaced in texts, and the line around them is left alone."""
    assert redacted({"a": ":[1,2,3]", "b": '":":[1,2'}, ODD='":":[1,2') == {"a": ":[1,2,3]", "b": "[redacted:ODD]"}


@pytest.mark.parametrize("value", ["", "short", "\ud800 and more"])
def test_odd_secrets_do_no_harm(value: str) -> None:
    """What is too short to be told from a word is not replaced, and no value keeps a line from being written."""
    assert redacted({"a": "short text"}, KEY=value) == {"a": "short text"}


def test_nothing_to_hide_costs_nothing() -> None:
    """Without secrets a line is passed on as it is, unread."""
    line = b"\xff not even JSON"

    assert line is NO_SECRETS.redacted(line)


def test_names_that_mean_a_credential() -> None:
    """Which variables hold a credential is told by their names, whatever the case; others are no secrets."""
    secret = (
        "ANTHROPIC_API_KEY",
        "openai_api_key",
        "GITHUB_TOKEN",
        "TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "CLIENT_SECRET",
        "PGPASSWORD",
        "DB_PASSWORD_MAIN",
        "SSH_PASSPHRASE",
        "DATABASE_URL",
    )
    harmless = ("PATH", "HOME", "AWS_REGION", "TOKENIZERS_PARALLELISM", "SECRETARY", "KEYMAP", "SSH_AUTH_SOCK")

    assert set(secret) == set(secrets_in(dict.fromkeys((*secret, *harmless), "value")))
