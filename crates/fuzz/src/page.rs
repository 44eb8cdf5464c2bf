//! Pages: every query selects one, and its object and links are consistent.

use cuepoint_api::wire::page::{Link, Page, Paging};
use cuepoint_api::wire::query::{Query, integer};
use cuepoint_domain::page::Rows;

use crate::split;

const PATH: &str = "http://127.0.0.1:8080/api/v1/music/user/requests";
const FILTERS: &[&str] = &["status", "dj_id"];

/// The input is the number of rows of the whole list, and on the next line a query.
pub(crate) fn check(input: &[u8]) {
    let (total, query) = split(input);
    let total = std::str::from_utf8(total).ok().and_then(|total| total.parse().ok()).unwrap_or(0);
    let Ok(query) = std::str::from_utf8(query) else { return };
    let query = Query::parse(query);
    if let Some(number) = query.get("page").and_then(integer) {
        assert_eq!(integer(&number.to_string()), Some(number));
    }
    let page = page(&query, total);
    check_numbers(&page);
    check_links(&page);
    for (url, number) in
        [(&page.first_page_url, 1), (&page.last_page_url, page.last_page)].into_iter().chain(turned(&page))
    {
        check_url(&page, &query, url, number);
    }
}

fn page(query: &Query, total: u64) -> Page<()> {
    let paging = Paging::read(query, PATH.to_owned(), FILTERS);
    let request = paging.request();
    let before = u128::from(request.number().saturating_sub(1)).saturating_mul(u128::from(request.size()));
    let count = u128::from(total).saturating_sub(before).min(u128::from(request.size()));
    paging.page(&Rows { rows: vec![(); usize::try_from(count).unwrap_or(0)], total }, |()| ())
}

fn check_numbers(page: &Page<()>) {
    assert!((1..=100).contains(&page.per_page), "{} rows a page", page.per_page);
    assert!(page.current_page >= 1 && page.last_page >= 1);
    let rows = i64::try_from(page.data.len()).unwrap_or(i64::MAX);
    match (page.from, page.to) {
        (Some(from), Some(to)) => {
            assert_eq!(to.saturating_sub(from), rows.saturating_sub(1));
            assert!(from >= 1 && to <= page.total && page.current_page <= page.last_page);
        }
        (None, None) => assert!(rows == 0, "{rows} rows without numbers"),
        _ => assert!(page.from == page.to, "one end without the other"),
    }
    assert_eq!(page.next_page_url.is_some(), page.current_page < page.last_page);
    assert_eq!(page.prev_page_url.is_some(), page.current_page > 1);
}

fn check_links(page: &Page<()>) {
    let [previous, numbered @ .., next] = page.links.as_slice() else {
        assert!(page.links.len() >= 3, "{} links", page.links.len());
        return;
    };
    assert_eq!((previous.label.as_str(), &previous.url), ("&laquo; Previous", &page.prev_page_url));
    assert_eq!((next.label.as_str(), &next.url), ("Next &raquo;", &page.next_page_url));
    assert!((1..=13).contains(&numbered.len()), "{} numbers", numbered.len());
    let active = |link: &&Link| link.active;
    assert_eq!(page.links.iter().filter(active).count(), usize::from(page.current_page <= page.last_page));
    let numbers: Vec<i64> = numbered.iter().filter_map(|link| link.label.parse().ok()).collect();
    assert!(numbers.is_sorted() && numbers.first() == Some(&1) && numbers.last() == Some(&page.last_page));
    for link in numbered {
        assert_eq!(link.url.is_none(), link.label == "...");
        assert_eq!(link.active, link.label == page.current_page.to_string());
    }
}

/// Returns the URLs and numbers of the previous and the next page.
fn turned(page: &Page<()>) -> impl Iterator<Item = (&String, i64)> {
    let number = page.current_page;
    let previous = page.prev_page_url.iter().map(move |url| (url, number.saturating_sub(1)));
    previous.chain(page.next_page_url.iter().map(move |url| (url, number.saturating_add(1))))
}

/// Checks that a link leads to the page that it names, of the same size and with the same filters.
fn check_url(page: &Page<()>, query: &Query, url: &str, number: i64) {
    let (path, rest) = url.split_once('?').unwrap_or((url, ""));
    assert_eq!(path, page.path);
    assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url:?}");
    let followed = Query::parse(rest);
    let there = self::page(&followed, u64::try_from(page.total).unwrap_or(0));
    assert_eq!((there.current_page, there.per_page), (number, page.per_page), "{url:?}");
    assert_eq!(there.first_page_url, page.first_page_url);
    for filter in FILTERS {
        assert_eq!(followed.get(filter), query.get(filter), "{url:?}");
    }
}
