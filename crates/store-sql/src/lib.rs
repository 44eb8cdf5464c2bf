//! Common code of Cuepoint's SQL stores, independent of database and driver: it performs no I/O.
//!
//! A writer commits a group of plans in one transaction: it computes the [`GroupLockSet`] of the plans, loads
//! its rows as [`LoadedRows`], applies the plans to them one after the other with [`fold()`], and writes the
//! resulting [`WriteSet`]. Rows are plain data ([`rows`]), which each store encodes for its columns.
//!
//! [`copy`] moves all data between two stores.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

mod announcements;
pub mod answers;
pub mod copy;
mod corrupt;
pub mod crash_points;
mod entity_rows;
mod fold;
pub mod id_blocks;
pub mod limits;
mod loaded_rows;
mod lock_set;
mod locks;
mod named;
pub mod rows;
pub mod schema;
pub mod sql_types;
mod sum;
pub mod table;
mod write_set;

pub use announcements::Announcements;
pub use entity_rows::{EntityImages, EntityRows, RowImages, RowOf, Rowed};
pub use fold::{Folded, fold};
pub use loaded_rows::{CountedRequests, LoadedRows, StoredAdjustment};
pub use lock_set::{GroupLockSet, LockedTable};
pub use locks::Lock;
pub use write_set::WriteSet;
