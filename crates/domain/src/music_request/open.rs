//! Making a request: the DJ's price is frozen and held.

use crate::account::{ArtistType, User};
use crate::ids::{RequestId, UserId};
use crate::ledger::{Account, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::music_request::{MusicRequest, RequestState, RequestTerms};
use crate::text::{Line, MusicUrl};
use crate::timestamp::Timestamp;

/// What a guest asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRequest {
    /// Who is asked.
    pub dj: UserId,
    /// The song.
    pub song_title: Line,
    /// Who made it.
    pub artist_name: Line,
    /// What kind of song.
    pub artist_type: ArtistType,
    /// Where it can be heard.
    pub music_url: MusicUrl,
    /// What the guest offers, at least the DJ's list price; that price when left out.
    pub fee: Option<Money>,
}

/// Why a request is not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenRefusal {
    /// There is no such person, they are no DJ, or it is the guest.
    NoSuchDj,
    /// The DJ takes no requests from this guest.
    Blocked,
    /// The offer is below the DJ's list price.
    FeeBelowPrice(Money),
    /// The DJ takes no requests now.
    DjOffline,
}

/// The request that `requester` makes of `dj`, who may have blocked them, and the transfers that hold its fee.
///
/// # Errors
/// [`OpenRefusal`], the first that applies in its order.
pub fn open(
    id: RequestId,
    requester: UserId,
    dj: Option<&User>,
    blocked: bool,
    new: NewRequest,
    terms: &RequestTerms,
    now: Timestamp,
) -> Result<(MusicRequest, Vec<Transfer>), OpenRefusal> {
    let dj = dj.filter(|dj| dj.id == new.dj && dj.id != requester).ok_or(OpenRefusal::NoSuchDj)?;
    let profile = dj.dj.as_ref().ok_or(OpenRefusal::NoSuchDj)?;
    if blocked {
        return Err(OpenRefusal::Blocked);
    }
    let price = profile.list_price(new.artist_type);
    let fee = new.fee.unwrap_or(price);
    if fee < price {
        return Err(OpenRefusal::FeeBelowPrice(price));
    }
    if !profile.online {
        return Err(OpenRefusal::DjOffline);
    }
    let request = MusicRequest {
        id,
        requester,
        dj: dj.id,
        song_title: new.song_title,
        artist_name: new.artist_name,
        artist_type: new.artist_type,
        music_url: new.music_url,
        fee,
        state: RequestState::Pending { answer_by: now.plus(terms.pending_for) },
        created_at: now,
    };
    let transfers = hold(&request);
    Ok((request, transfers))
}

/// The transfers that hold the fee; none where it is zero.
pub(super) fn hold(request: &MusicRequest) -> Vec<Transfer> {
    let guest = request.requester;
    let transfer = Amount::new(request.fee).map(|amount| Transfer {
        debit: Account::Available(guest),
        credit: Account::Held(guest),
        amount,
        kind: TransferKind::Hold,
    });
    transfer.into_iter().collect()
}
