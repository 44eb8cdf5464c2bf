//! Entities with the permission granted for them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::authorization::{Denied, Ownership, Permission, Principal};
use crate::ids::UserId;

/// An entity to which a principal may apply the action of `P`.
///
/// Its constructors are the only place that queries the authorization matrix: a function that takes one
/// cannot be called without the permission, and need not check again.
pub struct Authorized<T, P> {
    entity: T,
    permission: PhantomData<P>,
}

impl<T, P: Permission> Authorized<T, P> {
    /// Queries the matrix for an entity of this ownership.
    pub(super) fn ask(entity: T, ownership: Ownership, principal: &Principal) -> Result<Self, Denied> {
        principal.may(P::ACTION, ownership)?;
        Ok(Self { entity, permission: PhantomData })
    }
}

impl<P: Permission> Authorized<UserId, P> {
    /// The principal's own account.
    pub(super) fn own(principal: &Principal) -> Result<Self, Denied> {
        Self::ask(principal.user, Ownership::Own, principal)
    }
}

impl<P: Permission> Authorized<(), P> {
    /// All entities, regardless of owner.
    pub(super) fn all(principal: &Principal) -> Result<Self, Denied> {
        Self::ask((), Ownership::Others, principal)
    }
}

impl<T, P> Authorized<T, P> {
    /// The entity without the permission.
    pub(super) fn into_inner(self) -> T {
        self.entity
    }
}

impl<T, P> Deref for Authorized<T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.entity
    }
}

impl<T: fmt::Debug, P> fmt::Debug for Authorized<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authorized").field(&self.entity).finish()
    }
}
