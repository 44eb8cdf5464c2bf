"""Who calls the service, and which findings the contract wants as they are.

`cargo xtask schemathesis` tells in the environment where the service is (CUEPOINT_URL), as whom it is called
(CUEPOINT_CALLER: guest, dj or operator), its first operator's password (CUEPOINT_OPERATOR_PASSWORD) and what
providers sign with (CUEPOINT_WEBHOOK_SECRET).
"""

import base64
import hashlib
import hmac
import itertools
import json
import os
import re
import time
import uuid

import jsonschema_rs
import requests
import schemathesis
from schemathesis.auths import CachingAuthProvider
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import ObjectLevelAuthorizationViolation, RejectedPositiveData
from schemathesis.wfc.escalation import EscalatingAuthProvider

BASE = os.environ["CUEPOINT_URL"] + "/api/v1"
CALLER = os.environ["CUEPOINT_CALLER"]
PASSWORD = os.environ["CUEPOINT_OPERATOR_PASSWORD"]
SECRET = base64.b64decode(os.environ["CUEPOINT_WEBHOOK_SECRET"].removeprefix("whsec_"))
FIRST_OPERATOR = "operator@example.com"
# A webhook endpoint that is accepted, and whose address is refused when it is called; and one that is refused.
ENDPOINT, REFUSED_ENDPOINT = "https://localhost/hook", "https://127.0.0.1/hook"

numbers = itertools.count(1)


def call(method, path, token=None, **body):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.request(method, BASE + path, headers=headers, json=body or None, timeout=10)
    return answer.json() if answer.ok else None


# Who there is.


def register(is_dj=False):
    """A new user's e-mail and access token."""
    email = f"{CALLER}-{next(numbers)}@schemathesis.example.com"
    data = call("POST", "/auth/register", name="Somebody", email=email, password=PASSWORD, is_dj=is_dj)["data"]
    if is_dj:
        call("PATCH", "/user/personal-info", data["access_token"], online=1, fee_popular_song=2, fee_upcoming_artist=1)
    return email, data["access_token"], data["user"]["id"]


def login(email):
    answer = call("POST", "/auth/login", email=email, password=PASSWORD)
    return answer and answer["data"]["access_token"]


operators = [FIRST_OPERATOR]


def operator():
    """An operator's access token: one that another made, where the service has a way to do that.

    A generated call may demote or erase the operator that makes it, so another one has to be left.
    """
    tokens = [token for token in map(login, reversed(operators)) if token]
    if not tokens:
        raise RuntimeError("no operator is left that could log in")
    for token in tokens:
        email, _, number = register()
        if call("POST", f"/operator/users/{number}/role", token, role="operator", reason="A new colleague."):
            operators.append(email)
            return login(email)
    return tokens[0]


# What there is, so that calls find something: numbers and codes by the word before them in a path.
known = {}


def populate(guest, dj):
    """Requests and withdrawals in several states, so that moves are possible."""
    (_, guest_token, guest_number), (_, dj_token, dj_number) = guest, dj
    topups = [call("POST", "/wallet/topups", guest_token, amount=amount)["data"]["topup"]["id"] for amount in (100_000, 2, 3)]
    gig = call("POST", "/gigs", dj_token, title="Friday night", max_open_per_guest=100)["data"]["gig"]
    song = dict(song_title="Blue Monday", artist_name="New Order", music_url="https://example.com/song")
    orders = [
        call("POST", "/music/requests", guest_token, dj_id=dj_number, artist_type="popular", **song)["data"]["id"]
        for _ in range(6)
    ]
    for played in orders[:2]:
        call("PATCH", f"/music/requests-update/{played}", dj_token, status="played")
    destination = dict(wallet_address="bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", currency="BTC", network="bitcoin")
    withdrawals = [
        call("POST", "/withdrawal/crypto", guest_token, amount=10, **destination)["data"]["withdrawal_request"]["id"]
        for _ in range(8)
    ]
    # All but the first, which pays for everything.
    known.update(requests=orders, withdrawals=withdrawals, topups=topups[1:], djs=[dj_number])
    known.update(users=[guest_number], blocks=[guest_number])
    known.update(gigs=[gig["id"]], boards=[gig["code"]])
    known["webhook"] = endpoints("/webhook-endpoints", dj_token if CALLER == "dj" else guest_token)
    if CALLER == "operator":
        known["provider"] = kept_messages()
        known["webhook"] = endpoints("/operator/webhook-endpoints", operator())


def endpoints(path, token):
    """New webhook endpoints, fewer than there may be."""
    created = [call("POST", path, token, url=ENDPOINT, password=PASSWORD) for _ in range(2)]
    return [answer["data"]["webhook_endpoint"]["id"] for answer in created if answer]


def kept_messages():
    """Messages of the payout system about nothing that there is, which operators may resolve."""
    for _ in range(4):
        body = json.dumps({"type": "payout.failed", "data": {"reference": str(uuid.uuid4())}})
        headers = {"Content-Type": "application/json", **signed(body)}
        requests.post(BASE + "/providers/payouts", headers=headers, data=body, timeout=10)
    page = call("GET", "/operator/provider-messages?resolved=0", operator())
    return [message["id"] for message in page["data"]["data"]] if page else []


class Caller:
    """A user of the caller's kind, with objects of their own; a new user when the old one is refused."""

    def get(self, case, context):
        user = register(is_dj=CALLER == "dj")
        populate(
            guest=user if CALLER == "guest" else register(),
            dj=user if CALLER == "dj" else register(is_dj=True),
        )
        if CALLER == "operator":
            return operator()
        email, token, _ = user
        # Sessions other than the one that calls, to be ended.
        login(email)
        sessions = call("GET", "/auth/sessions", token)
        known["sessions"] = [session["id"] for session in sessions["data"]["data"]] if sessions else []
        return token

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


class Peer(Caller):
    """Somebody of the same kind, who has nothing to do with the caller."""

    def get(self, case, context):
        return register(is_dj=CALLER == "dj")[1]


@schemathesis.hook
def after_load_schema(context, schema):
    """Calls as one user, and requests the objects of that user as a second user, too.

    A 401 makes schemathesis ask for a new user and repeat the call, so that operations may end sessions and
    erase users.
    """
    if CALLER == "operator":
        # What an operator sees is every operator's to see.
        schema.auth.providers.append(CachingAuthProvider(Caller()))
    else:
        users = [CachingAuthProvider(Caller()), CachingAuthProvider(Peer())]
        peers = ("caller", "peer")
        provider = EscalatingAuthProvider(users, list(peers), peers=peers, pinned="caller")
        schema.auth.providers.append(provider)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes valid calls such that they get somewhere."""
    # What a link fills in may be a number, and a header is a text.
    case.headers.update({name: str(value) for name, value in case.headers.items() if isinstance(value, int)})
    stay_on_this_machine(case)
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if isinstance(case.body, dict):
        case.body = plain(case.body)
    if case.meta.phase.name.value != "stateful":
        name_what_there_is(case)
    if "/providers/" in case.path:
        sign(case)


def stay_on_this_machine(case):
    """Replaces a URL that the service might call: by one that is accepted if the document describes the URL."""
    url = case.body.get("url") if isinstance(case.body, dict) else None
    if isinstance(url, str) and len(url.strip()) <= 2048 and re.fullmatch(r"(?i)\s*https?:[!-~]+\s*", url):
        case.body["url"] = ENDPOINT if re.fullmatch("https?://[!-~]+", url) else REFUSED_ENDPOINT


# Texts contain no control characters. The document states this rule once, and its schemas omit it.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def plain(value):
    """Numbers as people write them: an id without a point, which schemas allow, and money with few decimals. Texts
    are not blank and have no control characters."""
    if isinstance(value, str) and value:
        line = CONTROL.sub("-", value)
        return line if line.strip() else "-" * len(line)
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 2)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def name_what_there_is(case):
    """Puts something that there is in place of every second number or code: most are nobody's."""
    word = re.search(r"/(\w+)[\w-]*/\{(id|code)\}", case.path)
    if word:
        name = word.group(2)
        case.path_parameters[name] = found(case.path_parameters[name], known.get(word.group(1)))
    if not isinstance(case.body, dict):
        return
    if "dj_id" in case.body:
        case.body["dj_id"] = found(case.body["dj_id"], known["djs"])
    is_confirmed = case.method == "DELETE" or "/webhook-endpoints" in case.path or "/auth/email/change" in case.path
    asks = "current_password" if "current_password" in case.body else is_confirmed and "password"
    if asks in case.body and next(numbers) % 2:
        case.body[asks] = PASSWORD


def found(number, there):
    """The number or code, or the next one of those that there are in place of an odd number or of every second code."""
    odd = int(number) if str(number).isdecimal() else next(numbers)
    return there[next(numbers) % len(there)] if odd % 2 == 1 and there else number


def sign(case):
    """Signs as the provider does; what a call was to be refused for stays wrong in it."""
    case.headers.update(signed(json.dumps(case.body)))


def signed(body):
    """The headers of a new message with this body."""
    number, stamp = f"msg_{CALLER}_{next(numbers)}", str(int(time.time()))
    tag = base64.b64encode(hmac.digest(SECRET, f"{number}.{stamp}.{body}".encode(), hashlib.sha256)).decode()
    return {"webhook-id": number, "webhook-timestamp": stamp, "webhook-signature": f"v1,{tag}"}


# What the contract wants as it is. Each takes a finding, and says whether it is such a one.


# The list that existing clients depend on, with the leniency of their former service.
FIXED_LIST = "/api/v1/music/user/requests"


def a_parameter_that_counts_as_another(failure, case, response):
    """Junk counts as the first page or the usual size, nothing as left out in a fixed operation, and true and false
    as 1 and 0."""

    def taken(name):
        value = case.query.get(name)
        # Of a parameter that is given several times, the last one counts.
        value = value[-1] if isinstance(value, list) and value else value
        left_out = case.path == FIXED_LIST and isinstance(value, str) and not value.strip()
        flag = name in {"online", "resolved"} and str(value).lower() in {"true", "false"}
        return name in {"page", "per_page"} or left_out or flag

    return isinstance(failure, AcceptedNegativeData) and all(map(taken, wrong_in_query(case)))


def wrong_in_query(case):
    """The query's parameters that were made wrong; all there could be when something else is wrong, too."""
    wrong = {location for location, part in case.meta.components.items() if part.mode.is_negative}
    data = case.meta.phase.data
    names = {getattr(data, "parameter", None), *(one.parameter for one in getattr(data, "mutations", None) or [])}
    names.discard(None)
    return names if wrong == {ParameterLocation.QUERY} and names else {"*"}


def a_text_that_is_trimmed(failure, case, response):
    """White space around a text does not count, so that it can be longer than the text may be."""
    if not isinstance(failure, AcceptedNegativeData) or not isinstance(case.body, dict):
        return False
    trimmed = {key: value.strip() if isinstance(value, str) else value for key, value in case.body.items()}
    return trimmed != case.body and is_valid(case, trimmed)


def a_number_for_yes_or_no(failure, case, response):
    """1 and 0 are taken for true and false, and the other way round."""
    if not isinstance(failure, AcceptedNegativeData) or not isinstance(case.body, dict):
        return False
    return any(
        is_valid(case, {key: as_kind(value) if value in (0, 1) else value for key, value in case.body.items()})
        for as_kind in (bool, int)
    )


def an_optional_text_that_is_empty(failure, case, response):
    """An empty text in a field that may be left out counts as left out, as in Laravel."""
    if not isinstance(failure, AcceptedNegativeData) or not isinstance(case.body, dict):
        return False
    without = {key: value for key, value in case.body.items() if value != ""}
    return without != case.body and is_valid(case, without)


def is_valid(case, body):
    """Whether the document has this body as one that the operation takes."""
    [media_type] = case.operation.body
    return jsonschema_rs.validator_for(media_type.optimized_schema).is_valid(body)


def a_state_that_does_not_allow_it(failure, case, response):
    """What is taken today, known already, lost or not to be had is refused, however well it is written."""
    return isinstance(failure, RejectedPositiveData) and response.json()["code"] in {
        "events_lost",
        "idempotency_key_reused",
        "insufficient_funds",
        "limit_exceeded",
    }


def a_field_that_no_schema_describes(failure, case, response):
    """Who is meant, what is taken and what is secret the service knows alone, and decimals are configured."""
    sentences = [
        r"The email (has already been taken|is already yours)\.",
        r"The is dj field cannot be changed back\.",
        r"The selected (dj|user) id is invalid\.",
        r"You cannot (send a request to|block) yourself\.",
        r"The (current )?password is incorrect\.",
        r"The (code|token) is invalid or has expired\.",
        r"The (amount|offers|fee|fee \w+ \w+) field must (have 0-2 decimal places|be a number|be at least .*|not be 0)\.",
        r"The (latitude|longitude) field is required when (latitude|longitude) is present\.",
        r"The user id field is required when reference is not present\.",
        r"The after field is required when failed is not present\.",
        r"The after field must be less than until and less than the endpoint's cursor\.",
        r"The failed field is prohibited when (after|until) is present\.",
        r"The account has no confirmed top-up with this reference\.",
        # A field of the object that its body cannot set.
        r"The [\w ]+ field is prohibited( without an open gig of the DJ)?\.",
    ]
    errors = response.json().get("errors", {}) if isinstance(failure, RejectedPositiveData) else {}
    return bool(errors) and all(
        re.fullmatch("|".join(sentences), sentence) for field in errors.values() for sentence in field
    )


# Fields that are required in some cases alone, by the end of the path.
DEPENDS = {
    "/withdrawals/{id}/complete": {"txid"},
    "/providers/payouts": {"txid"},
    "/providers/topups": {"amount", "currency"},
    "/auth/phone/code": {"phone"},
    "/webhook-endpoints/{id}": {"password"},
    "/v1/user": {"password"},
}


def a_field_that_depends(failure, case, response):
    """A `txid` is required where none is known or was made, what was paid of a new top-up or taken back, and a telephone
    in the profile where a code is sent to it."""
    names = {name for path, names in DEPENDS.items() if case.path.endswith(path) for name in names}
    errors = response.json().get("errors", {}) if isinstance(failure, RejectedPositiveData) else {}
    depends = {name: [f"The {name} field is required."] for name in names & errors.keys()}
    return bool(errors) and errors == depends


def an_address_of_guest_accounts(failure, case, response):
    """A schema has the addresses of guest accounts, which a request cannot give to a user."""
    errors = response.json().get("errors", {}) if isinstance(failure, RejectedPositiveData) else {}
    body = case.body if isinstance(case.body, dict) else {}
    return errors.keys() == {"email"} and str(body.get("email", "")).strip().lower().endswith("@guest.invalid")


def a_dj_for_all_to_see(failure, case, response):
    """DJs are shown to every user."""
    return isinstance(failure, ObjectLevelAuthorizationViolation) and case.path == "/api/v1/djs/{id}"


EXCUSES = [
    a_parameter_that_counts_as_another,
    a_text_that_is_trimmed,
    a_number_for_yes_or_no,
    an_optional_text_that_is_empty,
    a_state_that_does_not_allow_it,
    a_field_that_no_schema_describes,
    a_field_that_depends,
    an_address_of_guest_accounts,
    a_dj_for_all_to_see,
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps what nothing excuses."""
    return not any(excused(failure, case, response) for excused in EXCUSES)
