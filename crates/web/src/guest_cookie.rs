//! The guest cookie of a browser in which a session begins.
//!
//! A guest account has no password, so that its secret is the only way to its money. A secret that the database does not
//! know may belong to a database that comes back. No answer deletes such a secret. When a session begins, the secret moves
//! into the guest cookie.

use cuepoint_domain::application::BrowserSession;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::cookie_session::CookieSession;

use crate::call::PageCall;
use crate::cookies::PageCookie;
use crate::failure::PageFailure;
use crate::kept_secrets::{self, MOST};
use crate::response::PageResponse;
use crate::session::{self, SecretState};

/// What would be lost with a secret, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Worth {
    /// The session has ended, or belongs to a member.
    Void,
    /// A guest account without money.
    Empty,
    /// The database does not know it.
    Unknown,
    /// A guest account with money, or a suspended one.
    Wallet,
}

/// Removes secrets until the guest cookie can hold the rest: those of the least worth first, and among them the oldest.
/// `None` if money would be lost. `secrets` begins with the newest one.
fn fitting(mut secrets: Vec<(String, Worth)>) -> Option<Vec<String>> {
    while secrets.len() > MOST {
        let worths = secrets.iter().enumerate().map(|(place, (_, worth))| (*worth, std::cmp::Reverse(place)));
        let (worth, std::cmp::Reverse(place)) = worths.min()?;
        if worth == Worth::Wallet {
            return None;
        }
        secrets.remove(place);
    }
    Some(secrets.into_iter().map(|(secret, _)| secret).collect())
}

/// The guest cookie of a browser in which a session is about to begin.
#[derive(Debug)]
pub(crate) struct NextGuestCookie {
    /// The secrets in the cookie once the session has begun.
    secrets: Vec<String>,
    /// Whether they differ from the secrets in the browser's cookie.
    is_changed: bool,
}

impl NextGuestCookie {
    /// The guest cookie with the browser's own wallet. The secret of the browser's session moves there if the database does
    /// not know it, or if it belongs to a guest account. Call this before the other session begins, so that a
    /// failure changes nothing.
    ///
    /// # Errors
    /// [`PageFailure::WalletsFull`] if the cookie holds [`MOST`] wallets with money, and the failures of
    /// [`session::owner`].
    pub(crate) async fn with_own_wallet(call: &PageCall) -> Result<Self, PageFailure> {
        Self::with_own(call, Worth::Wallet).await
    }

    /// The guest cookie as [`Self::with_own_wallet`], for a claim of the browser's own wallet, or a link to it. Both end the
    /// secret. The secret works again if that commit is lost, as after a restore. Otherwise, no money depends on it.
    /// Therefore a full cookie drops it instead of refusing the session.
    ///
    /// # Errors
    /// The failures of [`session::owner`].
    pub(crate) async fn with_ended_wallet(call: &PageCall) -> Result<Self, PageFailure> {
        Self::with_own(call, Worth::Unknown).await
    }

    /// The guest cookie with the secret of the session, which counts as worth `most` at most.
    async fn with_own(call: &PageCall, most: Worth) -> Result<Self, PageFailure> {
        let (own, kept) = kept_secrets::all(call.state.settings.cookies, &call.request);
        let mut all = Vec::new();
        for secret in own.into_iter().filter(|own| !kept.contains(own)) {
            let worth = worth(call, &secret).await?.min(most);
            // A wallet that is empty now may get money before the other session begins.
            if worth > Worth::Void {
                all.push((secret, worth));
            }
        }
        if all.is_empty() {
            return Ok(Self { secrets: kept, is_changed: false });
        }
        // The worth of the others matters only if one of them has to go.
        let is_full = all.len().saturating_add(kept.len()) > MOST;
        for secret in kept {
            let worth = if is_full { worth(call, &secret).await? } else { Worth::Wallet };
            all.push((secret, worth));
        }
        let secrets = fitting(all).ok_or(PageFailure::WalletsFull)?;
        Ok(Self { secrets, is_changed: true })
    }

    /// The answer that begins this session.
    pub(crate) fn begin(
        mut self,
        call: &PageCall,
        answer: PageResponse,
        begun: &BrowserSession,
    ) -> PageResponse {
        let cookies = call.state.settings.cookies;
        let (own, before) = (&begun.cookie.0, self.secrets.len());
        // The server may remember the cookie as unknown if its first commit was lost and is now repeated.
        call.state.service.authentication.cookies.forget_as_unknown(own);
        self.secrets.retain(|secret| secret != own);
        let is_changed = self.is_changed || self.secrets.len() != before;
        let answer = answer.with_cookie(&session::begun(cookies, begun));
        if !is_changed {
            return answer;
        }
        answer.with_cookie(&kept_secrets::guest(cookies, &self.secrets))
    }
}

/// Whether the guest cookie holds so many wallets with money that no other fits.
///
/// # Errors
/// As [`session::owner`].
pub(crate) async fn is_full(call: &PageCall) -> Result<bool, PageFailure> {
    let secrets = kept_secrets::secrets(call.state.settings.cookies, &call.request);
    if secrets.len() < MOST {
        return Ok(false);
    }
    for secret in secrets {
        if worth(call, &secret).await? != Worth::Wallet {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the browser has a secret that the database does not know.
///
/// # Errors
/// As [`session::owner`].
pub(crate) async fn has_unknown(call: &PageCall) -> Result<bool, PageFailure> {
    let kept = kept_secrets::secrets(call.state.settings.cookies, &call.request);
    for secret in call.cookie(PageCookie::Session).into_iter().chain(kept) {
        let state = session::state_of(&call.state, &call.request, &secret).await?;
        if state == SecretState::Unknown && CookieSession::is_well_formed(&secret) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the database knows the session of the session cookie, ended or not.
///
/// # Errors
/// As [`session::owner`].
pub(crate) async fn has_known_session(call: &PageCall) -> Result<bool, PageFailure> {
    let Some(own) = call.cookie(PageCookie::Session) else { return Ok(false) };
    Ok(session::state_of(&call.state, &call.request, &own).await? != SecretState::Unknown)
}

/// What would be lost with a secret.
async fn worth(call: &PageCall, secret: &str) -> Result<Worth, PageFailure> {
    Ok(match session::state_of(&call.state, &call.request, secret).await? {
        SecretState::Unknown => Worth::Unknown,
        SecretState::InForce(guest) if guest.is_guest_account() => {
            if has_money(call, &guest).await? {
                Worth::Wallet
            } else {
                Worth::Empty
            }
        }
        SecretState::Suspended { is_guest_account: true } => Worth::Wallet,
        SecretState::InForce(_) | SecretState::Suspended { .. } | SecretState::Ended => Worth::Void,
    })
}

/// Whether a guest account has money or waits for a payment.
///
/// # Errors
/// [`PageFailure`] for a store that cannot be read.
pub(crate) async fn has_money(call: &PageCall, guest: &Principal) -> Result<bool, PageFailure> {
    if !call.use_cases().profiles.own(guest).await?.balance.total().is_zero() {
        return Ok(true);
    }
    let page = PageRequest::new(1, 1);
    let pending = call.use_cases().topups.list(guest, Some(TopupStatus::Pending), page).await?;
    Ok(pending.total > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters of the secrets that stay, of these letters: `v`oid, `e`mpty, `u`nknown, with `m`oney.
    fn stays(worths: &str) -> Option<String> {
        let worth = |letter| match letter {
            'v' => Worth::Void,
            'e' => Worth::Empty,
            'u' => Worth::Unknown,
            _ => Worth::Wallet,
        };
        let numbered = worths.chars().enumerate();
        let secrets = numbered.map(|(place, letter)| (format!("{letter}{place}"), worth(letter))).collect();
        fitting(secrets).map(|kept| kept.join(" "))
    }

    #[test]
    fn the_secret_whose_loss_costs_least_gives_way_and_never_one_with_money() {
        for (worths, expected) in [
            ("uuuu", Some("u0 u1 u2 u3")),
            ("uuuuu", Some("u0 u1 u2 u3")),
            ("muuvu", Some("m0 u1 u2 u4")),
            ("uemmm", Some("u0 m2 m3 m4")),
            ("muuvuue", Some("m0 u1 u2 u4")),
            ("ummmm", Some("m1 m2 m3 m4")),
            ("mmmmm", None),
            ("mmmmmv", None),
        ] {
            assert_eq!(stays(worths).as_deref(), expected, "{worths}");
        }
    }
}
