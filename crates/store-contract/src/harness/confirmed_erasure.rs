//! An erasure that was just confirmed.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Erased, PasswordHash, Store};
use cuepoint_domain::timestamp::Timestamp;

/// Erases a user as if they had just confirmed it.
pub(crate) async fn erase_at(
    store: &dyn Store,
    user: UserId,
    expected_since: Timestamp,
    now: Timestamp,
) -> Erased {
    let credentials = store.credentials_of(user).await.unwrap();
    let confirmed = credentials.map_or_else(PasswordHash::none, |credentials| credentials.password);
    store.erase(user, &confirmed, expected_since, now).await.unwrap()
}
