//! Opening a request: the DJ's price is fixed and held.

use thiserror::Error;

use crate::ids::{GigId, RequestId, UserId};
use crate::ledger::{Account, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::music_request::{MusicRequest, RequestState, RequestTerms};
use crate::text::{Line, MusicUrl, ShortMessage};
use crate::timestamp::Timestamp;
use crate::user::{ArtistType, Standing, User};

/// The data of a new request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRequest {
    /// The addressed DJ.
    pub dj: UserId,
    pub song_title: Line,
    pub artist_name: Line,
    /// The kind of song.
    pub artist_type: ArtistType,
    /// A link to the song; defaults to [`RequestTerms::song_url`].
    pub music_url: Option<MusicUrl>,
    /// The fee that the guest agreed to; `None` for the list price, whatever it is.
    pub fee: Option<Agreement>,
    /// The dedication, for a request in a gig.
    pub message: Option<ShortMessage>,
}

/// The fee that a guest agreed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// The DJ's list price, if it is at most this amount.
    AtMost(Money),
    /// This amount, which is at least the list price.
    Exactly(Money),
}

impl Agreement {
    /// The fee of a request at this list price.
    ///
    /// # Errors
    /// [`OpenRefusal::FeeBelowPrice`] if the list price is higher than the guest agreed to.
    pub const fn fee(self, price: Money) -> Result<Money, OpenRefusal> {
        let (Self::AtMost(limit) | Self::Exactly(limit)) = self;
        if limit.minor() < price.minor() {
            return Err(OpenRefusal::FeeBelowPrice(price));
        }
        match self {
            Self::AtMost(_) => Ok(price),
            Self::Exactly(fee) => Ok(fee),
        }
    }
}

/// What an open gig determines for new requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GigRequestTerms {
    pub id: GigId,
    /// The maximum number of open requests of one guest.
    pub most_open_per_guest: u32,
    /// Whether it takes no requests of guest accounts.
    pub members_only: bool,
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
    /// The guest agreed to less than this list price of the DJ.
    #[error("the offer is below the list price")]
    FeeBelowPrice(Money),
    #[error("the DJ is offline")]
    DjOffline,
    /// A dedication without an open gig.
    #[error("there is no open gig for a dedication")]
    DedicationWithoutGig,
    /// The gig takes no requests of guest accounts.
    #[error("the gig is for members")]
    MembersOnly,
}

/// The DJ to whom a request is addressed, as stored.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Addressee<'a> {
    /// The user; `None` if there is none with this id.
    pub user: Option<&'a User>,
    /// Whether they block the guest.
    pub blocks_guest: bool,
    /// Their open gig.
    pub gig: Option<GigRequestTerms>,
    /// The standing of the guest.
    pub guest: Standing,
}

impl<'a> Addressee<'a> {
    /// A user who neither blocks the guest, who is proven, nor has an open gig.
    #[must_use]
    pub const fn of(user: Option<&'a User>) -> Self {
        Self { user, blocks_guest: false, gig: None, guest: Standing::Proven }
    }
}

/// The DJ to whom a new request is addressed, and its fee. Without a requester, the rules apply to a guest account that
/// does not exist yet.
///
/// # Errors
/// [`OpenRefusal`], the first that applies, in the order of its variants.
pub fn judge<'a>(
    requester: Option<UserId>,
    to: Addressee<'a>,
    new: &NewRequest,
) -> Result<(&'a User, Money), OpenRefusal> {
    if requester == Some(new.dj) {
        return Err(OpenRefusal::Oneself);
    }
    let Addressee { user, blocks_guest, gig, guest } = to;
    let dj = user.filter(|user| user.id == new.dj).ok_or(OpenRefusal::NoSuchDj)?;
    let profile = dj.dj.as_ref().ok_or(OpenRefusal::NoSuchDj)?;
    if blocks_guest {
        return Err(OpenRefusal::Blocked);
    }
    let price = profile.list_price(new.artist_type);
    let fee = new.fee.map_or(Ok(price), |agreed| agreed.fee(price))?;
    if !profile.online {
        return Err(OpenRefusal::DjOffline);
    }
    if new.message.is_some() && gig.is_none() {
        return Err(OpenRefusal::DedicationWithoutGig);
    }
    if guest.is_guest_account() && gig.is_some_and(|gig| gig.members_only) {
        return Err(OpenRefusal::MembersOnly);
    }
    Ok((dj, fee))
}

/// The new request of `requester` to a DJ, and the transfers that hold its fee.
///
/// # Errors
/// As [`judge`].
pub fn open(
    id: RequestId,
    requester: UserId,
    to: Addressee<'_>,
    new: NewRequest,
    terms: &RequestTerms,
    now: Timestamp,
) -> Result<(MusicRequest, Vec<Transfer>), OpenRefusal> {
    let (dj, fee) = judge(Some(requester), to, &new)?;
    let gig = to.gig.map(|gig| gig.id);
    let filled = || terms.song_url.of_song(&new.song_title, &new.artist_name);
    let music_url = new.music_url.clone().unwrap_or_else(filled);
    let request = MusicRequest {
        id,
        requester,
        dj: dj.id,
        song_title: new.song_title,
        artist_name: new.artist_name,
        artist_type: new.artist_type,
        music_url,
        fee,
        gig,
        counts_as_guest: to.guest.counts_as_guest(),
        state: RequestState::Pending { answer_by: now.plus(terms.answered_within(gig)) },
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
