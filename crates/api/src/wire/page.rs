//! Pagination: the requested page, and the page object of Laravel's `LengthAwarePaginator`.

use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_views::json_members;
use cuepoint_views::wire::write_json::WriteJson;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::query::{Query, integer};

/// The query parameters of every page.
pub const PAGE_PARAMETERS: [&str; 2] = ["page", "per_page"];

/// The page that a query requests, and the base address of its links.
#[derive(Clone, Debug)]
pub struct Paging {
    number: i64,
    size: u32,
    path: String,
    /// The address of a page without its number, which goes last.
    page_url: String,
}

/// A link to a page.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = PageLink)]
pub struct Link {
    /// Address of the page; null if there is none.
    #[schema(example = "https://api.example.com/api/v1/djs?page=1")]
    pub url: Option<String>,
    /// `&laquo; Previous`, a page number, `...` or `Next &raquo;`.
    #[schema(example = "1")]
    pub label: String,
    /// Whether it links to the current page.
    pub active: bool,
}

json_members!([] Link { url [], label [], active [] });

/// A page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// Number of the page, as requested. Any other value than a number from 1 counts as 1.
    #[schema(minimum = 1, example = 1)]
    pub current_page: i64,
    /// Rows of the page.
    pub data: Vec<T>,
    /// Address of the first page.
    #[schema(example = "https://api.example.com/api/v1/djs?page=1")]
    pub first_page_url: String,
    /// Number of the first row within the list; null without rows.
    #[schema(example = 1)]
    pub from: Option<i64>,
    /// Number of the last page; 1 for an empty list.
    #[schema(example = 1)]
    pub last_page: i64,
    /// Address of the last page.
    #[schema(example = "https://api.example.com/api/v1/djs?page=1")]
    pub last_page_url: String,
    /// Links to the pages around this one.
    pub links: Vec<Link>,
    /// Address of the next page; null on the last page.
    #[schema(example = json!(null))]
    pub next_page_url: Option<String>,
    /// Address of the list.
    #[schema(example = "https://api.example.com/api/v1/djs")]
    pub path: String,
    /// Maximum number of rows per page.
    #[schema(minimum = 1, maximum = 100, example = 15)]
    pub per_page: u32,
    /// Address of the previous page; null on the first page.
    #[schema(example = json!(null))]
    pub prev_page_url: Option<String>,
    /// Number of the last row within the list; null without rows.
    #[schema(example = 1)]
    pub to: Option<i64>,
    /// Number of rows in the whole list.
    #[schema(example = 1)]
    pub total: i64,
}

json_members!([<T: WriteJson>] Page<T> {
    current_page [], data [], first_page_url [], from [], last_page [], last_page_url [], links [], next_page_url [],
    path [], per_page [], prev_page_url [], to [], total [],
});

impl Paging {
    /// The page that a query requests. `path` is the list's full address; `filters` are the parameters that
    /// its links keep beside `per_page`. An invalid page counts as page 1.
    #[must_use]
    pub fn read(query: &Query, path: String, filters: &[&str]) -> Self {
        let number = query.get("page").and_then(integer).filter(|number| *number >= 1).unwrap_or(1);
        let size = match query.get("per_page").and_then(integer) {
            None => PageRequest::DEFAULT_SIZE,
            Some(size) if size < 1 => 1,
            Some(size) => {
                u32::try_from(size).map_or(PageRequest::MAX_SIZE, |size| size.min(PageRequest::MAX_SIZE))
            }
        };
        let known: Vec<&str> = filters.iter().copied().chain(["per_page"]).collect();
        let kept = query.kept(&known);
        let separator = if kept.is_empty() { "" } else { "&" };
        Self { number, size, page_url: format!("{path}?{kept}{separator}page="), path }
    }

    /// The page request for the use cases.
    #[must_use]
    pub fn request(&self) -> PageRequest {
        PageRequest::new(u64::try_from(self.number).unwrap_or(1), self.size)
    }

    /// The page object of these rows.
    pub fn page<'r, R, T>(&self, rows: &'r Rows<R>, view: impl Fn(&'r R) -> T) -> Page<T> {
        let total = i64::try_from(rows.total).unwrap_or(i64::MAX);
        let size = i64::from(self.size);
        let last = total.saturating_sub(1).checked_div(size).map_or(1, |full| full.saturating_add(1)).max(1);
        let data: Vec<T> = rows.rows.iter().map(view).collect();
        let before = self.number.saturating_sub(1).saturating_mul(size);
        let count = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let (from, to) = if data.is_empty() {
            (None, None)
        } else {
            (Some(before.saturating_add(1)), Some(before.saturating_add(count)))
        };
        let previous = (self.number > 1).then(|| self.url(self.number.saturating_sub(1)));
        let next = (self.number < last).then(|| self.url(self.number.saturating_add(1)));
        Page {
            current_page: self.number,
            data,
            first_page_url: self.url(1),
            from,
            last_page: last,
            last_page_url: self.url(last),
            links: self.links(last, previous.clone(), next.clone()),
            next_page_url: next,
            path: self.path.clone(),
            per_page: self.size,
            prev_page_url: previous,
            to,
            total,
        }
    }

    fn url(&self, number: i64) -> String {
        [self.page_url.as_str(), &number.to_string()].concat()
    }

    fn links(&self, last: i64, previous: Option<String>, next: Option<String>) -> Vec<Link> {
        let end = |url, label: &str| Link { url, label: label.to_owned(), active: false };
        let numbered = window(self.number, last).into_iter().map(|number| match number {
            Some(number) => {
                Link { url: Some(self.url(number)), label: number.to_string(), active: number == self.number }
            }
            None => end(None, "..."),
        });
        std::iter::once(end(previous, "&laquo; Previous"))
            .chain(numbered)
            .chain([end(next, "Next &raquo;")])
            .collect()
    }
}

/// The page numbers that a page links to; `None` stands for omitted ones.
fn window(current: i64, last: i64) -> Vec<Option<i64>> {
    let pages = |from: i64, to: i64| (from..=to).map(Some);
    let back = |pages: i64| last.saturating_sub(pages);
    if last < 14 {
        pages(1, last).collect()
    } else if current <= 7 {
        pages(1, 10).chain([None]).chain(pages(back(1), last)).collect()
    } else if current > back(7) {
        pages(1, 2).chain([None]).chain(pages(back(9), last)).collect()
    } else {
        let around = pages(current.saturating_sub(3), current.saturating_add(3));
        pages(1, 2).chain([None]).chain(around).chain([None]).chain(pages(back(1), last)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const PATH: &str = "http://127.0.0.1:8080/api/v1/music/user/requests";

    fn rows(total: u64, size: u64, number: u64) -> Rows<()> {
        let before = number.saturating_sub(1).saturating_mul(size);
        let count = total.saturating_sub(before).min(size);
        Rows { rows: vec![(); usize::try_from(count).unwrap()], total }
    }

    #[test]
    fn pages_match_the_golden_file() {
        let golden =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../cuepoint/tests/golden/pages.json"));
        let cases: Vec<Value> = serde_json::from_str(golden).unwrap();
        assert!(cases.len() > 100);
        for case in cases {
            let [total, size, number] = ["total", "per_page", "page"].map(|key| case[key].as_u64().unwrap());
            let asked = case["query"].as_str().unwrap();
            let query = Query::parse(&format!("{asked}&page={number}"));
            let mut paging = Paging::read(&query, PATH.to_owned(), &["status", "dj_id"]);
            // Some cases set the size without a parameter in the query.
            paging.size = u32::try_from(size).unwrap();
            let mut page = serde_json::to_value(paging.page(&rows(total, size, number), |()| ())).unwrap();
            page.as_object_mut().unwrap().remove("data");
            assert_eq!(page, case["expected"], "{total} {size} {number} {asked}");
        }
    }

    #[test]
    fn a_page_is_written_exactly_as_serde_json_would_write_it() {
        for (total, number) in [(0, 1), (1, 1), (1, 2), (15, 1), (400, 9), (400, 27)] {
            let paging = Paging::read(&Query::parse(&format!("page={number}")), PATH.to_owned(), &[]);
            let page = paging.page(&rows(total, 15, number), |()| "a \"view\"");
            let mut written = Vec::new();
            page.write_json(&mut written);
            assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(&page).unwrap());
        }
    }

    #[test]
    fn page_keys_are_in_the_specified_order() {
        let paging = Paging::read(&Query::default(), PATH.to_owned(), &[]);
        let text = serde_json::to_string(&paging.page(&rows(0, 15, 1), |()| ())).unwrap();
        let keys = [
            "current_page",
            "data",
            "first_page_url",
            "from",
            "last_page",
            "last_page_url",
            "links",
            "next_page_url",
            "path",
            "per_page",
            "prev_page_url",
            "to",
            "total",
        ];
        let places: Vec<usize> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
    }

    #[test]
    fn an_invalid_page_number_counts_as_1_and_page_sizes_are_limited() {
        for (query, number, size) in [
            ("", 1, 15),
            ("page=0", 1, 15),
            ("page=-3", 1, 15),
            ("page=02", 1, 15),
            ("page=abc&per_page=abc", 1, 15),
            ("page=2&per_page=0", 2, 1),
            ("per_page=-9", 1, 1),
            ("per_page=101", 1, 100),
            ("per_page=99999999999", 1, 100),
            ("per_page=99999999999999999999", 1, 15),
            ("per_page=007", 1, 15),
            ("page=9223372036854775807", i64::MAX, 15),
            ("page=9223372036854775808", 1, 15),
            ("page=2&page=4", 4, 15),
        ] {
            let paging = Paging::read(&Query::parse(query), PATH.to_owned(), &[]);
            assert_eq!((paging.number, paging.size), (number, size), "{query}");
        }
    }

    #[test]
    fn the_largest_page_number_does_not_overflow() {
        let paging = Paging::read(&Query::parse("page=9223372036854775807"), PATH.to_owned(), &[]);
        let page = serde_json::to_value(paging.page(&Rows::<()>::none(3), |()| ())).unwrap();
        assert_eq!(page["current_page"], json!(i64::MAX));
        assert_eq!(page["prev_page_url"], json!(format!("{PATH}?page={}", i64::MAX - 1)));
        assert_eq!(page["next_page_url"], Value::Null);
        assert_eq!(page["from"], Value::Null);
        assert!(page["links"].as_array().unwrap().iter().all(|link| link["active"] == json!(false)));
    }

    #[test]
    fn page_links_keep_the_known_parameters_as_given() {
        let query = Query::parse("per_page=500&status=pending&page=9&junk=1");
        let page = Paging::read(&query, PATH.to_owned(), &["status"]).page(&rows(0, 100, 9), |()| ());
        assert_eq!(page.first_page_url, format!("{PATH}?per_page=500&status=pending&page=1"));
        assert_eq!(page.per_page, 100);
    }
}
