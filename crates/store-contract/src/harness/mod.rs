//! What promises and histories share: a fixture with users and money, and what it expects of a store.

pub(crate) mod confirmed_erasure;
pub(crate) mod races;
pub(crate) mod refusal;
pub(crate) mod scenario;
pub(crate) mod tables;
