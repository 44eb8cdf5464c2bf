//! What a plan expects of the entities in the book.

use crate::entity_ref::EntityKind;
use crate::ids::UserId;
use crate::operation::{Book, Entity, Rejection};
use crate::user::User;

/// Checks that the entity is still as loaded.
pub(super) fn expect(book: &Book, before: &Entity) -> Result<(), Rejection> {
    match book.stands_as(before) {
        Some(true) => Ok(()),
        Some(false) => Err(Rejection::Stale),
        None => Err(Rejection::Missing(before.kind())),
    }
}

/// Checks that an entity can be opened: its owner, if it has one, has a wallet, and it replaces no other entity.
pub(super) fn expect_new(book: &Book, new: &Entity) -> Result<(), Rejection> {
    if book.has(new) {
        let is_new = new.facts().takes_new_id();
        return Err(if is_new {
            Rejection::Broken("the id of the new entity is taken")
        } else {
            Rejection::Stale
        });
    }
    let has_wallet = new.owner().is_none_or(|owner| book.wallets.contains_key(&owner));
    has_wallet.then_some(()).ok_or(Rejection::Missing(EntityKind::Wallet))
}

/// The user; an erased one counts as missing.
pub(super) fn present(book: &Book, id: UserId) -> Result<&User, Rejection> {
    let stored = book.get(id).filter(|user| user.is_present());
    stored.ok_or(Rejection::Missing(EntityKind::User))
}
