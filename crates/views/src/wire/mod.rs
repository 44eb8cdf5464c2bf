//! The forms of single values in JSON: names, numbers, times and objects, with their schemas.

pub mod entry_kinds;
pub mod json;
pub mod money;
pub mod names;
pub mod schema;
pub mod time;
pub mod view;
pub mod write_json;
