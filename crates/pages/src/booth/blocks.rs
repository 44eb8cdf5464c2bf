//! The guests whom the DJ blocks.

use askama::Template;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::user::Block;

use crate::frame::{Frame, renders};
use crate::paging::PageLinks;

/// `/booth/blocks`: the guests whom the DJ blocks, the last blocked first, each with `POST /booth/unblock`.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/blocks.html")]
pub struct BlocksPage<'a> {
    pub frame: &'a Frame<'a>,
    pub blocks: &'a Rows<Block>,
    pub page: PageRequest,
}

impl BlocksPage<'_> {
    fn paging(&self) -> PageLinks {
        PageLinks::new("/booth/blocks", self.page, self.blocks.total)
    }
}

renders!(BlocksPage);
