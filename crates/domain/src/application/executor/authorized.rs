//! Entities with the permission granted for them: the only place that consults the authorization matrix about an
//! entity, except to [reveal](super::Loadable::reveal) it.
//!
//! Before any entity is known, the pipeline of requests and the executor refuse principals who lack the role
//! for an action of staff, with [`Principal::has_role_for`], so that they learn nothing about entities.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::authorization::{Action, Denied, Ownership, Permission, Principal};
use crate::ids::UserId;

/// A permission that a principal needs for an entity of this ownership.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirement {
    action: Action,
    ownership: Ownership,
}

impl Requirement {
    /// The permission `P`.
    #[must_use]
    pub const fn of<P: Permission>(ownership: Ownership) -> Self {
        Self { action: P::ACTION, ownership }
    }

    /// Consults the matrix.
    pub(in crate::application) fn ask(self, principal: &Principal) -> Result<(), Denied> {
        principal.may(self.action, self.ownership)
    }
}

/// An entity to which a principal may apply the action of `P`.
///
/// A function that takes one cannot be called without the permission, and need not check again.
pub struct Authorized<T, P> {
    entity: T,
    permission: PhantomData<P>,
}

impl<T, P: Permission> Authorized<T, P> {
    /// Consults the matrix about an entity of this ownership.
    pub(in crate::application) fn ask(
        entity: T,
        ownership: Ownership,
        principal: &Principal,
    ) -> Result<Self, Denied> {
        Requirement::of::<P>(ownership).ask(principal)?;
        Ok(Self { entity, permission: PhantomData })
    }
}

impl<P: Permission> Authorized<UserId, P> {
    /// The principal themselves.
    pub(in crate::application) fn own(principal: &Principal) -> Result<Self, Denied> {
        Self::ask(principal.user, Ownership::Own, principal)
    }
}

impl<P: Permission> Authorized<(), P> {
    /// All entities, regardless of owner.
    pub(in crate::application) fn all(principal: &Principal) -> Result<Self, Denied> {
        Self::ask((), Ownership::Others, principal)
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
