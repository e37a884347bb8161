"""Services that people choose from, each with its own fields, and the Apprise addresses that come of them. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from pressbox.core.errors import InvalidInputError
from pressbox.delivery.domain.channels import clean_url

EMAIL, APPRISE = "email", "apprise"
MAX_FIELDS = 3

_DISCORD = re.compile(r"https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d+)/([\w-]+)/?")
_SLACK = re.compile(r"https://hooks\.slack\.com/services/(\w+)/(\w+)/(\w+)/?")
_TELEGRAM = re.compile(r"\d+:[\w-]+")


@dataclass(frozen=True)
class Field:
    """A field of a service's form. `label` and `hint` are translated on the page."""

    label: str
    hint: str = ""
    is_secret: bool = False
    is_optional: bool = False


@dataclass(frozen=True)
class Service:
    title: str
    fields: tuple[Field, ...]
    build: Callable[[Sequence[str]], str]


def build_address(key: str, values: Sequence[str]) -> str:
    """The Apprise address of a filled-in form; an error names the field by its number: one, two, three."""
    service = SERVICES.get(key)
    if service is None or service.build is _no_address:
        raise InvalidInputError("Choose a service.", field="service")
    cleaned = [value.strip() for value in (*values, *("",) * MAX_FIELDS)][: len(service.fields)]
    for number, (field, value) in enumerate(zip(service.fields, cleaned, strict=True)):
        if not value and not field.is_optional:
            raise InvalidInputError("Fill in this field.", field=NAMES[number])
    return clean_url(service.build(cleaned))


def _no_address(values: Sequence[str]) -> str:
    return ""


def _ntfy(values: Sequence[str]) -> str:
    topic, server = values
    if re.fullmatch(r"[\w-]{1,64}", topic) is None:
        raise InvalidInputError("A topic has letters, digits, - and _ only.", field="one")
    if not server:
        return f"ntfys://ntfy.sh/{topic}"
    scheme, place = _split_server(server, "two")
    return f"{'ntfys' if scheme == 'https' else 'ntfy'}://{place}/{topic}"


def _telegram(values: Sequence[str]) -> str:
    token, chat = values
    if _TELEGRAM.fullmatch(token) is None:
        raise InvalidInputError("A bot token looks like 123456789:AAE…", field="one")
    if re.fullmatch(r"-?\d+|@\w+", chat) is None:
        raise InvalidInputError("A chat id is a number, or @ and the name of a channel.", field="two")
    return f"tgram://{token}/{chat}"


def _slack(values: Sequence[str]) -> str:
    found = _SLACK.fullmatch(values[0])
    if found is None:
        raise InvalidInputError("A webhook address begins with https://hooks.slack.com/services/.", field="one")
    return f"slack://{found[1]}/{found[2]}/{found[3]}"


def _discord(values: Sequence[str]) -> str:
    found = _DISCORD.fullmatch(values[0])
    if found is None:
        raise InvalidInputError("A webhook address begins with https://discord.com/api/webhooks/.", field="one")
    return f"discord://{found[1]}/{found[2]}"


def _matrix(values: Sequence[str]) -> str:
    server, token, room = values
    scheme, place = _split_server(server, "one")
    if re.fullmatch(r"[!#][^\s/]+", room) is None:
        raise InvalidInputError("A room looks like !abc:example.org or #name:example.org.", field="three")
    return f"{'matrixs' if scheme == 'https' else 'matrix'}://{quote(token, safe='')}@{place}/{quote(room, safe='')}"


def _gotify(values: Sequence[str]) -> str:
    server, token = values
    scheme, place = _split_server(server, "one")
    return f"{'gotifys' if scheme == 'https' else 'gotify'}://{place}/{quote(token, safe='')}"


def _pushover(values: Sequence[str]) -> str:
    user, token = (quote(value, safe="") for value in values)
    return f"pover://{user}@{token}"


def _webhook(values: Sequence[str]) -> str:
    scheme, place = _split_server(values[0], "one")
    return f"{'jsons' if scheme == 'https' else 'json'}://{place}"


def _split_server(address: str, field: str) -> tuple[str, str]:
    """Scheme and place of the address of a server; without a scheme it is https."""
    parts = urlsplit(address if "://" in address else f"https://{address}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInputError("This is not the address of a server, such as https://push.example.org.", field=field)
    query = f"?{parts.query}" if parts.query else ""
    return parts.scheme, f"{parts.netloc}{parts.path}".rstrip("/") + query


NAMES = ("one", "two", "three")
_SERVER = "Server"
SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        EMAIL: Service("E-mail", (), _no_address),
        "ntfy": Service(
            "ntfy",
            (
                Field("Topic", "As in the app. Choose one that nobody guesses."),
                Field(_SERVER, "Leave it empty for ntfy.sh.", is_optional=True),
            ),
            _ntfy,
        ),
        "telegram": Service(
            "Telegram",
            (
                Field("Bot token", "From @BotFather.", is_secret=True),
                Field("Chat id", "Write to the bot first, then ask @userinfobot for your id."),
            ),
            _telegram,
        ),
        "slack": Service("Slack", (Field("Webhook address", "From an incoming webhook.", is_secret=True),), _slack),
        "discord": Service(
            "Discord",
            (Field("Webhook address", "Channel settings, Integrations, Webhooks, copy the address.", is_secret=True),),
            _discord,
        ),
        "matrix": Service(
            "Matrix",
            (Field(_SERVER), Field("Access token", is_secret=True), Field("Room", "!abc:example.org")),
            _matrix,
        ),
        "gotify": Service("Gotify", (Field(_SERVER), Field("Application token", is_secret=True)), _gotify),
        "pushover": Service(
            "Pushover",
            (Field("User key", is_secret=True), Field("Application token", is_secret=True)),
            _pushover,
        ),
        "webhook": Service("Webhook", (Field("Address", "Gets each message as JSON.", is_secret=True),), _webhook),
        APPRISE: Service("Apprise", (), _no_address),
    }
)
SENTENCES = tuple(
    words for service in SERVICES.values() for field in service.fields for words in (field.label, field.hint) if words
)
