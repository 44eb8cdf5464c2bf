//! The page of a wallet link.

use askama::Template;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::wallet_link::LinkEnd;

use crate::frame::{Frame, renders};
use crate::texts::Text;

/// The page `/wallet-link?link=…`: `POST /wallet-link` with `link` and `key`. Reading it uses no link.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/link.html")]
pub struct WalletLinkPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The secret of the link.
    pub link: &'a str,
    /// The key of the form.
    pub key: &'a str,
    /// The name of the guest account.
    pub name: &'a Line,
    pub balance: Balance,
    /// The session of this browser before the link is used.
    pub own: OwnSession,
}

/// The session that a browser has when it opens a wallet link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnSession {
    /// No session, or a session of the account of the link.
    Nothing,
    /// A session of another guest account. The browser keeps its secret.
    Wallet,
    /// A session of a member, who has to log in again.
    Login,
}

impl WalletLinkPage<'_> {
    fn consequence(&self) -> Option<Text> {
        match self.own {
            OwnSession::Nothing => None,
            OwnSession::Wallet => Some(self.frame.t.link_keeps_wallet()),
            OwnSession::Login => Some(self.frame.t.link_ends_login()),
        }
    }
}

renders!(WalletLinkPage);

/// The page of a link that opens no wallet.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/link_over.html")]
pub struct LinkOverPage<'a> {
    pub frame: &'a Frame<'a>,
    pub end: LinkEnd,
}

impl LinkOverPage<'_> {
    fn reason(&self) -> Text {
        let t = self.frame.t;
        match self.end {
            LinkEnd::Unknown => t.link_unknown(),
            LinkEnd::Claimed => t.link_claimed(),
            LinkEnd::Used => t.link_used(),
            LinkEnd::Expired => t.link_expired(),
            LinkEnd::Suspended => t.account_suspended(),
        }
    }

    const fn leads_to_login(&self) -> bool {
        matches!(self.end, LinkEnd::Claimed)
    }
}

renders!(LinkOverPage);
