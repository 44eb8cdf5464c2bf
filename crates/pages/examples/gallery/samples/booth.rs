//! Pages of the subject `booth`.

use cuepoint_pages::language::Language;

use super::Sample;

pub fn pages(_language: Language) -> Vec<Sample> {
    Vec::new()
}
