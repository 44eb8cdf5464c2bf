//! Lists against the pages of the framework that they imitate, byte for byte but for rows and addresses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Person, Server, Store, eventually, keys};

on_both_stores!(
    pages_of_requests_are_the_golden_ones,
    pages_of_expired_requests_are_the_golden_ones,
    rows_are_the_newest_first_and_each_comes_once,
    junk_counts_as_nothing_asked,
    filters_choose_rows,
    a_filter_that_is_none_is_refused,
    the_other_lists_are_pages_too,
    addresses_start_with_the_public_one,
);

/// The keys of a page, in their order.
const PAGE: [&str; 13] = [
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

fn sorted_page_keys() -> Vec<&'static str> {
    let mut keys = PAGE.to_vec();
    keys.sort_unstable();
    keys
}

/// A page that the framework made.
struct Golden {
    total: u64,
    /// The status that the list is filtered by.
    status: Option<String>,
    per_page: u64,
    page: u64,
    query: String,
    expected: Value,
}

/// The golden pages, with this server's address and this DJ in place of theirs.
fn golden(address: &str, dj: i64) -> Vec<Golden> {
    let text = include_str!("../golden/pages.json").replace("http://127.0.0.1:8080", address);
    let pages: Vec<Value> = serde_json::from_str(&with_dj(&text, dj)).unwrap();
    let read = |page: &Value| {
        let query = page["query"].as_str().unwrap().to_owned();
        Golden {
            total: page["total"].as_u64().unwrap(),
            status: query.split('&').find_map(|pair| pair.strip_prefix("status=")).map(str::to_owned),
            per_page: page["per_page"].as_u64().unwrap(),
            page: page["page"].as_u64().unwrap(),
            query,
            expected: page["expected"].clone(),
        }
    };
    pages.iter().map(read).collect()
}

/// The text with this DJ in place of every other.
fn with_dj(text: &str, dj: i64) -> String {
    let mut parts = text.split("dj_id=");
    let mut changed = parts.next().unwrap().to_owned();
    for part in parts {
        changed.push_str(&format!("dj_id={dj}"));
        changed.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    changed
}

/// A guest who made this many requests of the DJ, each moved to this status.
fn with_requests(server: &Server, dj: &Person, total: u64, status: &str) -> Person {
    let guest = server.guest();
    for _ in 0..total {
        let request = guest.ask(dj);
        match status {
            "pending" | "expired" => (),
            "cancelled" => drop(guest.cancel(request).data(200)),
            _ => drop(dj.answer(request, status).data(200)),
        }
    }
    guest
}

/// The golden pages as a caller can ask for them: what is not the default size is asked for, and then kept.
fn asked(golden: Golden) -> Golden {
    if golden.per_page == 15 || golden.query.contains("per_page=") {
        return golden;
    }
    let size = format!("per_page={}&page=", golden.per_page);
    let text = golden.expected.to_string();
    let text = text.replace("?page=", &format!("?{size}")).replace("&page=", &format!("&{size}"));
    // The second replacement found what the first had made.
    let text = text.replace(&format!("per_page={0}&{size}", golden.per_page), &size);
    let mut query: Vec<String> =
        golden.query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
    query.push(format!("per_page={}", golden.per_page));
    Golden { query: query.join("&"), expected: serde_json::from_str(&text).unwrap(), ..golden }
}

fn check(guest: &Person, golden: &Golden) {
    let answer = guest.get(&format!("/music/user/requests?{}&page={}", golden.query, golden.page));
    let mut page = answer.data(200);
    assert_eq!(keys(&page), sorted_page_keys(), "{answer}");
    // No row has any of these keys, and the envelope has its `data` before the page.
    let places: Vec<usize> =
        PAGE.iter().map(|key| answer.text.rfind(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{answer}");
    let rows = page.as_object_mut().unwrap().remove("data").unwrap();
    assert_eq!(page, golden.expected, "{answer}");
    let before = golden.per_page * (golden.page - 1);
    let left = golden.total.saturating_sub(before).min(golden.per_page);
    assert_eq!(rows.as_array().unwrap().len() as u64, left, "{answer}");
}

fn pages_of_requests_are_the_golden_ones(store: Store) {
    let server = Server::start(store);
    let dj = server.dj_at("0", "0");
    check_all(&server, &dj, |status| status != "expired");
}

fn pages_of_expired_requests_are_the_golden_ones(store: Store) {
    let server = Server::configured(store, &[("requests.pending_ttl_seconds", "1")]);
    let dj = server.dj_at("0", "0");
    check_all(&server, &dj, |status| status == "expired");
}

fn check_all(server: &Server, dj: &Person, wanted: impl Fn(&str) -> bool) {
    let mut groups: BTreeMap<(u64, String), Vec<Golden>> = BTreeMap::new();
    for page in golden(&server.client().address, dj.id).into_iter().map(asked) {
        let status = page.status.clone().unwrap_or("pending".into());
        if wanted(&status) {
            groups.entry((page.total, status)).or_default().push(page);
        }
    }
    assert!(!groups.is_empty());
    for ((total, status), pages) in groups {
        let guest = with_requests(server, dj, total, &status);
        if status == "expired" {
            let path = "/music/user/requests?status=expired";
            eventually("all are expired", || (guest.get(path).data(200)["total"] == total).then_some(()));
        }
        for page in &pages {
            check(&guest, page);
        }
    }
}

fn rows_are_the_newest_first_and_each_comes_once(store: Store) {
    let server = Server::start(store);
    let dj = server.dj_at("0", "0");
    let guest = server.guest();
    let mut made: Vec<i64> = (0..23).map(|_| guest.ask(&dj)).collect();
    made.reverse();
    for path in ["/music/user/requests", "/music/dj/requests"] {
        let person = if path.contains("/dj/") { &dj } else { &guest };
        let mut seen = Vec::new();
        let mut next = Some(format!("{path}?per_page=5"));
        while let Some(path) = next {
            let page = person.get(&path).data(200);
            seen.extend(page["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()));
            // Every address leads where it says.
            let base = server.client().base();
            next = page["next_page_url"].as_str().map(|url| url.strip_prefix(&base).unwrap().to_owned());
        }
        assert_eq!(seen, made);
    }
}

fn junk_counts_as_nothing_asked(store: Store) {
    let server = Server::start(store);
    let dj = server.dj_at("0", "0");
    let guest = server.guest();
    for _ in 0..17 {
        guest.ask(&dj);
    }
    for (query, page, per_page, rows) in [
        ("page=0", 1, 15, 15),
        ("page=-1", 1, 15, 15),
        ("page=abc", 1, 15, 15),
        ("page=", 1, 15, 15),
        ("page=1.5", 1, 15, 15),
        ("page=9223372036854775808", 1, 15, 15),
        ("page[]=2", 1, 15, 15),
        ("page=2", 2, 15, 2),
        ("per_page=abc", 1, 15, 15),
        ("per_page=", 1, 15, 15),
        ("per_page=0", 1, 1, 1),
        ("per_page=-5", 1, 1, 1),
        ("per_page=100", 1, 100, 17),
        ("per_page=101", 1, 100, 17),
        ("per_page=2147483648", 1, 100, 17),
        ("nonsense=%zz&page=2", 2, 15, 2),
        ("&&==&page=2", 2, 15, 2),
    ] {
        let answer = guest.get(&format!("/music/user/requests?{query}"));
        let data = answer.data(200);
        assert_eq!(data["current_page"], page, "{answer}");
        assert_eq!(data["per_page"], per_page, "{answer}");
        assert_eq!(data["data"].as_array().unwrap().len(), rows, "{answer}");
        assert_eq!(data["total"], 17, "{answer}");
        assert!(!data["path"].as_str().unwrap().contains('?'), "{answer}");
    }
    for page in ["3", "4611686018427387904", "9223372036854775807"] {
        let answer = guest.get(&format!("/music/user/requests?page={page}"));
        let data = answer.data(200);
        assert_eq!(answer.raw("/data/current_page"), page);
        assert_eq!((&data["data"], &data["from"], &data["to"]), (&json!([]), &Value::Null, &Value::Null));
        assert_eq!(data["next_page_url"], Value::Null);
        let previous = format!("?page={}", page.parse::<i64>().unwrap() - 1);
        assert!(data["prev_page_url"].as_str().unwrap().ends_with(&previous), "{answer}");
        assert!(data["links"].as_array().unwrap().iter().all(|link| link["active"] == false), "{answer}");
    }
}

fn filters_choose_rows(store: Store) {
    let server = Server::start(store);
    let (one, two) = (server.dj_at("0", "0"), server.dj_at("0", "0"));
    let guest = server.guest();
    let of_one: Vec<i64> = (0..5).map(|_| guest.ask(&one)).collect();
    let of_two = guest.ask(&two);
    one.answer(of_one[0], "accepted").data(200);
    one.answer(of_one[1], "rejected").data(200);
    one.answer(of_one[2], "played").data(200);
    guest.cancel(of_one[3]).data(200);
    let ids = |person: &Person, path: &str| -> Vec<i64> {
        let page = person.get(path).data(200);
        let rows = page["data"].as_array().unwrap();
        assert_eq!(page["total"], rows.len(), "{page}");
        rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
    };
    let own = "/music/user/requests";
    for (status, request) in
        [("accepted", of_one[0]), ("rejected", of_one[1]), ("played", of_one[2]), ("cancelled", of_one[3])]
    {
        assert_eq!(ids(&guest, &format!("{own}?status={status}")), [request]);
        assert_eq!(ids(&one, &format!("/music/dj/requests?status={status}")), [request]);
    }
    assert_eq!(ids(&guest, &format!("{own}?status=pending")), [of_two, of_one[4]]);
    assert_eq!(ids(&guest, &format!("{own}?status=pending&dj_id={}", one.id)), [of_one[4]]);
    assert_eq!(ids(&guest, &format!("{own}?dj_id={}", two.id)), [of_two]);
    assert_eq!(ids(&guest, &format!("{own}?dj_id={}", guest.id)), [0; 0]);
    assert_eq!(ids(&guest, &format!("{own}?status=expired")), [0; 0]);
    assert_eq!(ids(&guest, &format!("{own}?status=refunded")), [0; 0]);
    assert_eq!(ids(&two, "/music/dj/requests"), [of_two]);
}

fn a_filter_that_is_none_is_refused(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    for (path, field) in [
        ("/music/user/requests?status=nonsense", "status"),
        ("/music/user/requests?status=%FF", "status"),
        ("/music/user/requests?dj_id=abc", "dj_id"),
        ("/music/user/requests?dj_id=99999999999999999999", "dj_id"),
        ("/music/dj/requests?status=nonsense", "status"),
        ("/djs?online=7", "online"),
    ] {
        dj.get(path).invalid(&[field]);
    }
}

fn the_other_lists_are_pages_too(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj_at("0", "0"), server.guest());
    for _ in 0..3 {
        guest.topup("5");
        assert_eq!(guest.withdraw("1").status, 201);
        guest.ask(&dj);
    }
    for (person, path, total) in [
        (&guest, "/wallet/entries", 6),
        (&guest, "/wallet/topups", 3),
        (&guest, "/withdrawals", 3),
        (&guest, "/djs", 1),
        (&dj, "/music/dj/requests", 3),
        (&guest, "/music/user/requests", 3),
    ] {
        let answer = person.get(&format!("{path}?per_page=2&page=2"));
        let page = answer.data(200);
        assert_eq!(keys(&page), sorted_page_keys(), "{answer}");
        let address = format!("{}{path}", server.client().base());
        assert_eq!(page["path"], address);
        assert_eq!(page["total"], total, "{answer}");
        assert_eq!(page["first_page_url"], format!("{address}?per_page=2&page=1"));
        let left = usize::try_from((total - 2).clamp(0, 2)).unwrap();
        let rows = page["data"].as_array().unwrap();
        assert_eq!(rows.len(), left, "{answer}");
        let all = person.get(path).data(200)["data"].as_array().unwrap().clone();
        assert_eq!(all.len() as i64, total);
        assert_eq!(all.iter().skip(2).take(2).collect::<Vec<_>>(), rows.iter().collect::<Vec<_>>());
        let ids: Vec<i64> = all.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert!(ids.is_sorted_by(|left, right| left > right), "{ids:?}");
    }
}

fn addresses_start_with_the_public_one(store: Store) {
    let server = Server::configured(store, &[("server.public_url", "https://api.example.com")]);
    let guest = server.payer("10");
    let page = guest.get("/wallet/entries?per_page=1&page=1").data(200);
    assert_eq!(page["path"], "https://api.example.com/api/v1/wallet/entries");
    let answer = guest.withdraw("1");
    assert!(answer.header("location").unwrap().starts_with("https://api.example.com/api/v1/withdrawals/"));
}
