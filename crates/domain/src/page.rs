//! Which part of a list is asked for, and what comes back.

/// A page of a list: its number from 1, and how many rows it has at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    number: u64,
    size: u32,
}

impl PageRequest {
    /// Rows of a page unless the caller says otherwise.
    pub const DEFAULT_SIZE: u32 = 15;
    /// The most rows that a page can have.
    pub const MAX_SIZE: u32 = 100;

    /// The page; a number below 1 counts as 1, a size is held between 1 and 100.
    #[must_use]
    pub fn new(number: u64, size: u32) -> Self {
        Self { number: number.max(1), size: size.clamp(1, Self::MAX_SIZE) }
    }

    /// The page's number, from 1.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The most rows of the page.
    #[must_use]
    pub const fn size(self) -> u32 {
        self.size
    }

    /// Rows before the page; `None` where no list can be that long.
    #[must_use]
    pub fn offset(self) -> Option<i64> {
        let before = self.number.checked_sub(1)?.checked_mul(u64::from(self.size))?;
        i64::try_from(before).ok()
    }
}

/// The rows of one page, and how many the whole list has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows<T> {
    /// The page's rows, in the list's order.
    pub rows: Vec<T>,
    /// Rows of the whole list.
    pub total: u64,
}

impl<T> Rows<T> {
    /// A page beyond the end of a list of `total` rows.
    #[must_use]
    pub const fn none(total: u64) -> Self {
        Self { rows: Vec::new(), total }
    }
}
