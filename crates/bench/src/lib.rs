//! How fast Cuepoint is, beside the limits of what it runs on.
//!
//! Reading order: [`seeding`] (the rows that are measured on), [`limits`] and [`operations`] (what is measured),
//! [`load`] (requests and answers), [`processes`] (what that uses), [`run`] (everything in turn), [`table`], [`growth`].

pub mod bare;
pub mod comparison;
pub mod document;
pub mod figures;
pub mod growth;
pub mod limits;
pub mod load;
pub mod memory;
pub mod operations;
pub mod options;
pub mod pgbench;
pub mod postgres;
pub mod processes;
pub mod run;
pub mod seeding;
pub mod service;
pub mod table;
pub mod tokens;
