"""The tour of README.md through the generated Python client. The first argument is the service's URL."""

import sys
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import uuid4

from cuepoint_client import AuthenticatedClient, Client
from cuepoint_client.api.d_js import get_dj
from cuepoint_client.api.music_requests import cancel_music_request, create_music_request, update_music_request_status
from cuepoint_client.api.profile import get_personal_info, update_personal_info
from cuepoint_client.api.sign_in import list_sessions, login, logout_everywhere, refresh_session, register
from cuepoint_client.api.wallet import create_topup, get_wallet, list_wallet_entries
from cuepoint_client.api.withdrawals import create_withdrawal
from cuepoint_client.models import (
    ArtistType,
    DjDecision,
    EntryKind,
    ErrorCode,
    Failure,
    FailureErrors,
    Login,
    MusicRequestStatus,
    MusicRequestStatusUpdate,
    NewMusicRequest,
    NewTopup,
    NewWithdrawal,
    PersonalInfoUpdate,
    RefreshToken,
    Registration,
    Session,
    TopupStatus,
)
from cuepoint_client.types import Response

Body = TypeVar("Body")

URL = sys.argv[1]
# Addresses and idempotency keys of this run.
RUN = uuid4().hex


def success(response: Response[Failure | Body], status: HTTPStatus = HTTPStatus.OK) -> Body:
    """The body of a success with this status; any other response fails the tour."""
    parsed = response.parsed
    assert response.status_code == status, (response.status_code, response.content)
    assert parsed is not None and not isinstance(parsed, Failure), response.content
    return parsed


def failure(response: Response[Any], status: HTTPStatus) -> Failure:
    """The error body of a response with this status; any other response fails the tour."""
    parsed = response.parsed
    assert response.status_code == status, (response.status_code, response.content)
    assert isinstance(parsed, Failure), response.content
    return parsed


def authenticate(session: Session) -> AuthenticatedClient:
    """A client that sends the access token of this session."""
    return AuthenticatedClient(URL, token=session.access_token, raise_on_unexpected_status=True)


def main() -> None:
    anonymous = Client(base_url=URL, raise_on_unexpected_status=True)

    # A DJ and a guest register.
    email = f"dee-{RUN}@example.com"
    password = "correct horse"
    registration = Registration(name="Dee Jay", email=email, password=password, is_dj=True)
    session = success(register.sync_detailed(client=anonymous, body=registration), HTTPStatus.CREATED).data
    assert (session.user.is_dj, session.user.email) == (True, email)
    dj = authenticate(session)

    registration = Registration(name="Ada", email=f"ada-{RUN}@example.com", password="battery staple")
    session = success(register.sync_detailed(client=anonymous, body=registration), HTTPStatus.CREATED).data
    assert session.user.is_dj is False
    guest = authenticate(session)

    # An invalid body is refused with a message for each field.
    registration = Registration(name="", email="nowhere", password="short")
    refused = register.sync_detailed(client=anonymous, body=registration)
    invalid = failure(refused, HTTPStatus.UNPROCESSABLE_ENTITY)
    assert invalid.code == ErrorCode.VALIDATION_FAILED
    assert isinstance(invalid.errors, FailureErrors)
    assert sorted(invalid.errors.additional_keys) == ["email", "name", "password"]

    # The DJ sets prices and goes online.
    prices = PersonalInfoUpdate(online=1, fee_upcoming_artist=5, fee_popular_song=12.5)
    profile = success(update_personal_info.sync_detailed(client=dj, body=prices)).data.user
    assert (profile.online, profile.fee_popular_song) == (1, 12.5)
    assert success(get_dj.sync_detailed(profile.id, client=guest)).data.dj.fee_popular_song == 12.5

    # The guest pays in and requests a song: of 40.00, 12.50 are held.
    paid = success(create_topup.sync_detailed(client=guest, body=NewTopup(amount=40)), HTTPStatus.CREATED)
    topup = paid.data.topup
    assert (topup.amount, topup.status) == (40, TopupStatus.CONFIRMED)
    song = NewMusicRequest(
        dj_id=profile.id,
        song_title="Blue Monday",
        artist_name="New Order",
        artist_type=ArtistType.POPULAR,
        music_url="https://example.com/blue-monday",
    )
    request = success(create_music_request.sync_detailed(client=guest, body=song), HTTPStatus.CREATED).data
    assert (request.status, request.fee) == (MusicRequestStatus.PENDING, 12.5)
    wallet = success(get_wallet.sync_detailed(client=guest)).data.wallet
    assert (wallet.available, wallet.held) == (27.5, 12.5)

    # The DJ accepts and plays it: the DJ now has 12.50.
    for decision, status in (
        (DjDecision.ACCEPTED, MusicRequestStatus.ACCEPTED),
        (DjDecision.PLAYED, MusicRequestStatus.PLAYED),
    ):
        update = MusicRequestStatusUpdate(status=decision)
        answer = update_music_request_status.sync_detailed(request.id, client=dj, body=update)
        assert success(answer).data.status == status
    earned = success(get_personal_info.sync_detailed(client=dj)).data.user
    assert (earned.wallet_balance, earned.played) == (12.5, 1)

    # A played request cannot be cancelled any more.
    conflict = failure(cancel_music_request.sync_detailed(request.id, client=guest), HTTPStatus.CONFLICT)
    assert (conflict.code, conflict.current) == (ErrorCode.INVALID_TRANSITION, "played")

    # The DJ withdraws 10, and sends it twice: the second answer is the first one, replayed.
    withdrawals = []
    for replayed in (None, "true"):
        response = create_withdrawal.sync_detailed(
            client=dj,
            body=NewWithdrawal(amount=10, wallet_address="bc1qexample", currency="BTC", network="bitcoin"),
            idempotency_key=f"payday-{RUN}",
        )
        requested = success(response, HTTPStatus.CREATED).data
        assert response.headers.get("Idempotency-Replayed") == replayed
        assert requested.new_balance == 2.5
        withdrawals.append(requested.withdrawal_request.id)
    assert withdrawals[0] == withdrawals[1]

    # The statement of the DJ, newest first: 10.00 held, 12.50 earned.
    entries = success(list_wallet_entries.sync_detailed(client=dj, page=1, per_page=10)).data.data
    statement = [(entry.kind, entry.amount) for entry in entries]
    assert statement == [(EntryKind.HOLD, -10), (EntryKind.EARNING, 12.5)]

    # The DJ logs in on a phone too, sees both sessions, refreshes one and logs out everywhere.
    credentials = Login(email=email, password=password)
    phone = success(login.sync_detailed(client=anonymous, body=credentials)).data
    assert phone.user.id == profile.id
    assert len(success(list_sessions.sync_detailed(client=dj)).data.data) == 2
    success(refresh_session.sync_detailed(client=anonymous, body=RefreshToken(refresh_token=phone.refresh_token)))
    success(logout_everywhere.sync_detailed(client=dj))
    logged_out = failure(get_wallet.sync_detailed(client=dj), HTTPStatus.UNAUTHORIZED)
    assert logged_out.code == ErrorCode.SESSION_ENDED

    print("the tour through the Python client is over")


main()
