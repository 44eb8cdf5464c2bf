//! Opening a request: the DJ's price is fixed and held.

use thiserror::Error;

use crate::ids::{RequestId, UserId};
use crate::ledger::{Account, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::music_request::{MusicRequest, RequestState, RequestTerms};
use crate::text::{Line, MusicUrl};
use crate::timestamp::Timestamp;
use crate::user::{ArtistType, User};

/// The data of a new request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRequest {
    /// The addressed DJ.
    pub dj: UserId,
    pub song_title: Line,
    pub artist_name: Line,
    /// The kind of song.
    pub artist_type: ArtistType,
    /// A link to the song.
    pub music_url: MusicUrl,
    /// The guest's offer, at least the DJ's list price; defaults to that price.
    pub fee: Option<Money>,
}

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OpenRefusal {
    /// The DJ is the guest.
    #[error("the DJ is the guest")]
    Oneself,
    /// The user does not exist, or is not a DJ.
    #[error("there is no such DJ")]
    NoSuchDj,
    /// The DJ has blocked this guest.
    #[error("the DJ blocks the guest")]
    Blocked,
    /// The offer is below this list price of the DJ.
    #[error("the offer is below the list price")]
    FeeBelowPrice(Money),
    #[error("the DJ is offline")]
    DjOffline,
}

/// The new request of `requester` to `dj`, who may have blocked the requester, and the transfers that hold
/// its fee.
///
/// # Errors
/// [`OpenRefusal`], the first that applies, in the order of its variants.
pub fn open(
    id: RequestId,
    requester: UserId,
    dj: Option<&User>,
    blocked: bool,
    new: NewRequest,
    terms: &RequestTerms,
    now: Timestamp,
) -> Result<(MusicRequest, Vec<Transfer>), OpenRefusal> {
    if new.dj == requester {
        return Err(OpenRefusal::Oneself);
    }
    let dj = dj.filter(|dj| dj.id == new.dj).ok_or(OpenRefusal::NoSuchDj)?;
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

/// The transfers that hold the fee; none if it is zero.
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
