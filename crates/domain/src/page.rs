//! Pages of lists.

/// The request for a page of a list: its number from 1, and its maximum size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    number: u64,
    size: u32,
}

impl PageRequest {
    /// The default page size.
    pub const DEFAULT_SIZE: u32 = 15;
    /// The maximum page size.
    pub const MAX_SIZE: u32 = 100;

    /// The page; the number is at least 1, and the size is clamped to between 1 and 100.
    #[must_use]
    pub fn new(number: u64, size: u32) -> Self {
        Self { number: number.max(1), size: size.clamp(1, Self::MAX_SIZE) }
    }

    /// The page's number, from 1.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The maximum number of rows of the page.
    #[must_use]
    pub const fn size(self) -> u32 {
        self.size
    }

    /// The number of rows before the page; `None` if no list can be that long.
    #[must_use]
    pub fn offset(self) -> Option<i64> {
        let before = self.number.checked_sub(1)?.checked_mul(u64::from(self.size))?;
        i64::try_from(before).ok()
    }
}

/// The rows of one page, and the length of the whole list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows<T> {
    /// The page's rows, in the list's order.
    pub rows: Vec<T>,
    /// The number of rows of the whole list.
    pub total: u64,
}

impl<T> Rows<T> {
    /// A page beyond the end of a list of `total` rows.
    #[must_use]
    pub const fn none(total: u64) -> Self {
        Self { rows: Vec::new(), total }
    }
}
