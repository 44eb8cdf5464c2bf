//! The guests whom the DJ blocks.

use askama::Template;
use cuepoint_domain::user::Block;

use crate::frame::{Frame, renders};

/// `/booth/blocks`: the guests whom the DJ blocks, the last blocked first, each with `POST /booth/unblock`.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/blocks.html")]
pub struct BlocksPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The blocks of this page.
    pub blocks: &'a [Block],
    /// The number of this page, from 1 on: `/booth/blocks?page=2`.
    pub page: u64,
    /// The number of pages.
    pub pages: u64,
}

impl BlocksPage<'_> {
    fn newer(&self) -> Option<u64> {
        self.page.checked_sub(1).filter(|page| *page > 0)
    }

    fn older(&self) -> Option<u64> {
        self.page.checked_add(1).filter(|page| *page <= self.pages)
    }
}

renders!(BlocksPage);
