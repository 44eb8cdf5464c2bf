//! The links between the pages of a list, `frame/paging.html`.

use cuepoint_domain::page::PageRequest;

/// The links from a page of a list to its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLinks {
    /// The path of the list; `?page=2` is its second page.
    pub(crate) path: &'static str,
    /// The number of this page, from 1.
    pub(crate) number: u64,
    /// The number of pages, from 1.
    pub(crate) pages: u64,
}

impl PageLinks {
    /// The place of a page in a list of `total` rows.
    pub(crate) fn new(path: &'static str, page: PageRequest, total: u64) -> Self {
        Self { path, number: page.number(), pages: total.div_ceil(page.size().into()).max(1) }
    }

    pub(crate) fn newer(&self) -> Option<u64> {
        self.number.checked_sub(1).filter(|page| *page > 0)
    }

    pub(crate) fn older(&self) -> Option<u64> {
        self.number.checked_add(1).filter(|page| *page <= self.pages)
    }
}
