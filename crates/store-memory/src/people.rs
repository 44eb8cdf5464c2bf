//! People, and what they log in with.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::people::User;
use cuepoint_domain::ports::{Credentials, DjFilter, PasswordHash, People, Profile, Registered, Unavailable};
use cuepoint_domain::session::RefreshToken;

use crate::lists::cut;
use crate::{MemoryStore, State};

/// Who logs in with which folded e-mail address, and with what password.
#[derive(Debug, Default)]
pub(crate) struct Logins(HashMap<String, Credentials>);

#[async_trait]
impl People for MemoryStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<&'a RefreshToken>,
    ) -> Result<Registered, Unavailable> {
        let State { book, lists, logins, families } = &mut *self.lock()?;
        let email = user.email.folded();
        if logins.0.contains_key(&email) {
            return Ok(Registered::EmailTaken);
        }
        if book.users.contains_key(&user.id) {
            return Err(Unavailable::new("the identity of a new person is taken"));
        }
        logins.0.insert(email, Credentials { user: user.id, password: password.clone() });
        book.wallets.insert(user.id, Wallet::empty(user.id));
        book.users.insert(user.id, user.clone());
        if user.is_dj() {
            lists.djs.add(user.created_at, user.id);
        }
        if let Some(token) = session {
            families.begin(token);
        }
        Ok(Registered::Done)
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        let book = &self.lock()?.book;
        let both = book.users.get(&id).zip(book.wallets.get(&id));
        Ok(both.map(|(user, wallet)| Profile { user: user.clone(), balance: wallet.balance }))
    }

    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable> {
        Ok(self.lock()?.logins.0.get(email).cloned())
    }

    async fn djs(&self, filter: DjFilter, page: PageRequest) -> Result<Rows<User>, Unavailable> {
        let state = self.lock()?;
        let shown =
            state.lists.djs.newest_first().filter_map(|id| state.book.users.get(&id)).filter(|user| {
                filter.online.is_none_or(|online| user.dj.as_ref().is_some_and(|dj| dj.online == online))
            });
        let rows = cut(shown, page);
        Ok(Rows { rows: rows.rows.into_iter().cloned().collect(), total: rows.total })
    }
}
