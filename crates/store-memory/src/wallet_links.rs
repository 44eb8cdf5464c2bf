//! Uses of wallet links.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::session::{Session, SessionSecret, TokenHash};
use cuepoint_domain::user::wallet_link::LinkEnd;

use crate::State;

impl State {
    /// Uses a link: see [`cuepoint_domain::ports::Logins::use_wallet_link`].
    pub(crate) fn use_wallet_link(
        &mut self,
        presented: &TokenHash,
        session: &Session,
        cookie: TokenHash,
    ) -> Result<Result<User, LinkEnd>, Unavailable> {
        let (user, now) = (self.book.get(session.user).cloned(), session.began_at);
        let link = self.keys.with_hash(Purpose::WalletLink, presented);
        let (Some(user), Some(link)) = (user, link) else { return Ok(Err(LinkEnd::Unknown)) };
        if let Err(end) = link.opens_wallet(&user, now) {
            return Ok(Err(end));
        }
        self.sessions.begin(session, SessionSecret::Cookie(cookie))?;
        self.sessions.end_all(user.id, Some(session.id), now);
        self.keys.end(user.id, |purpose| purpose == Purpose::WalletLink, now);
        Ok(Ok(user))
    }

    /// Whether a session ended when a link of its user was used.
    pub(crate) fn ended_by_wallet_link(&self, session: SessionId) -> bool {
        let Some((user, ended_at)) = self.sessions.ended(session) else { return false };
        let mut links =
            self.keys.challenges_of(user).filter(|challenge| challenge.purpose == Purpose::WalletLink);
        links.any(|link| link.ended_at == Some(ended_at)) && self.sessions.began_at(user, ended_at)
    }
}
