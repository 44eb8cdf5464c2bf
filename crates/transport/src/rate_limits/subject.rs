//! The subjects of rate limits; requests of one subject are counted together.

use std::hash::BuildHasher;
use std::num::NonZeroU32;

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::{ClientNetwork, ClientSite};

use super::counts::Shares;

/// The number of sessions of a user that can use up their quotas before the user has none left.
const SESSIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

/// The subject of a count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum RateLimitSubject {
    /// An authenticated principal.
    Principal(UserId),
    /// A session of a principal.
    Session(SessionId),
    /// The browser in which this session began, whether it has ended or not.
    Browser(SessionId),
    /// An account in the browsers in which its sessions began.
    AtBrowsers(UserId),
    /// A client's network; all clients of unknown networks share one.
    Network(Option<ClientNetwork>),
    /// The site of an IPv6 client.
    Site(ClientSite),
    /// A DJ, and the network of the client.
    AtDj(UserId, Option<ClientNetwork>),
    /// A DJ, and the site of the IPv6 client.
    SiteAtDj(UserId, ClientSite),
    /// An e-mail address, hashed.
    Email(u64),
    /// An e-mail address, hashed, and the network of the client.
    EmailFrom(u64, Option<ClientNetwork>),
}

impl Shares {
    /// The client in this network, and its site, with `times` the quota. All clients of unknown networks share one count.
    pub(super) fn network(network: Option<ClientNetwork>, times: NonZeroU32) -> Self {
        let own = Self { first: (RateLimitSubject::Network(network), times), second: None };
        match network.and_then(ClientNetwork::site) {
            Some(site) => own.and(RateLimitSubject::Site(site), ClientSite::QUOTA.saturating_mul(times)),
            None => own,
        }
    }

    /// The requests to this DJ from this network and from its site.
    pub(super) fn at_dj(dj: UserId, network: Option<ClientNetwork>) -> Self {
        let own = Self::of(RateLimitSubject::AtDj(dj, network));
        match network.and_then(ClientNetwork::site) {
            Some(site) => own.and(RateLimitSubject::SiteAtDj(dj, site), ClientSite::QUOTA),
            None => own,
        }
    }

    /// The session and the user of this principal, so that a stolen token cannot use up the quota of the user's other
    /// sessions.
    pub(super) const fn session(principal: &Principal) -> Self {
        let own = Self::of(RateLimitSubject::Session(principal.session));
        own.and(RateLimitSubject::Principal(principal.user), SESSIONS)
    }

    /// This e-mail address, alone and together with this network.
    pub(super) fn email(
        hasher: &impl BuildHasher,
        folded_email: &str,
        network: Option<ClientNetwork>,
    ) -> (Self, Self) {
        let number = hasher.hash_one(folded_email);
        (Self::of(RateLimitSubject::Email(number)), Self::of(RateLimitSubject::EmailFrom(number, network)))
    }
}
