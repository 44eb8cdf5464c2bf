//! Pages in production: cookies of this host alone, plain http behind a proxy, and payment pages that must be https.

use std::fs::{self, File};

use serde_json::{Value, json};

use crate::harness::guest_scene::Evening;
use crate::harness::{
    Answer, Browser, Client, Message, NEW, PASSWORD, Provider, Reply, completed, eventually, field,
    gig_scene, leads_to, set_cookies,
};
use crate::operating::data_directory::{Folder, Process};
use crate::operating::starts::in_production;

const PUBLIC_URL: &str = "https://music.example.com";
const HSTS: &str = "strict-transport-security";
const SESSION: &str = "__Host-cuepoint";
const GUEST: &str = "__Host-cuepoint-guest";
const DRAFT: &str = "__Host-cuepoint-draft";

/// A server in production on a folder, with these variables.
fn serve(folder: &Folder, more: &[(&str, &str)]) -> Process {
    let variables = in_production(folder);
    folder.serve(&["--data", "data"], &[&variables, more].concat())
}

/// A server in production whose guests pay at this provider.
fn paying(folder: &Folder, provider: &Provider) -> Process {
    let provider = [
        ("CUEPOINT__TOPUPS__PROVIDER", "webhook"),
        ("CUEPOINT__TOPUPS__WEBHOOK_SECRETS", NEW),
        ("CUEPOINT__TOPUPS__WEBHOOK_URL", provider.url.as_str()),
    ];
    serve(folder, &provider)
}

/// An open gig at 10.00.
fn evening(client: &Client) -> Evening {
    let dj = client.person(true);
    let prices = r#"{"online": 1, "fee_upcoming_artist": 10, "fee_popular_song": 10}"#;
    dj.call("PATCH", "/user/personal-info").text(prices).send().data(200);
    let gig = gig_scene::open(&dj, &json!({"title": "Friday", "max_open_per_guest": 3}));
    let code = gig["code"].as_str().unwrap().to_owned();
    Evening { dj, gig, code }
}

/// A provider that names this payment page.
fn naming(page: &str) -> Provider {
    Provider::new(Reply::Says(200, json!({"payment_url": page}).to_string()))
}

/// Requests a song that waits for its payment, and returns the page of the payment.
fn payment(browser: &Browser, evening: &Evening) -> String {
    let place = leads_to(&evening.request(browser, "Blue Monday")).to_owned();
    assert!(place.starts_with("/topups/"), "{place}");
    place
}

/// The payment of 10.00 at this page arrives.
fn arrives(client: &Client, place: &str) {
    let reference = place.strip_prefix("/topups/").unwrap();
    let sent = Message::topup_of("10", "topup.confirmed", reference).call(client).send();
    assert_eq!(sent.status, 204, "{sent}");
}

/// Checks, deployments and proxies that end TLS speak plain http with the service, and some do not say that it was https.
#[test]
fn health_checks_metrics_and_proxies_without_a_protocol_header_work_over_plain_http() {
    let folder = Folder::new();
    for proxies in ["", "127.0.0.1"] {
        let server = serve(&folder, &[("CUEPOINT__SERVER__TRUSTED_PROXIES", proxies)]);
        let get = |path: &str, headers: &[(&str, &str)]| {
            let call = server.client.outside("GET", path);
            let answer = headers.iter().fold(call, |call, (name, value)| call.header(name, value)).send();
            assert_eq!(answer.status, 200, "{headers:?}: {answer}");
            assert_eq!(answer.header(HSTS), Some("max-age=31536000"), "{answer}");
        };
        let host = ("host", "music.example.com");
        let of_proxy = [host, ("x-forwarded-for", "192.0.2.1")];
        for headers in [&[][..], &[host], &of_proxy, &[host, of_proxy[1], ("x-forwarded-proto", "http")]] {
            for path in ["/health/live", "/health/ready", "/api/v1/settings", "/", "/login", "/docs/"] {
                get(path, headers);
            }
            // Clients of a proxy read no metrics, whatever their protocol is.
            if headers.len() < of_proxy.len() {
                get("/metrics", headers);
            }
        }
        let missing = server.client.outside("GET", "/nothing").send();
        assert_eq!((missing.status, missing.header(HSTS)), (404, Some("max-age=31536000")));
        // Of forms, the origin alone says from where they come: the public one, not what the proxy calls.
        let person = server.client.person(false);
        let browser = Browser::new(&server.client);
        let login = || browser.form("/login", &[("email", &person.email), ("password", PASSWORD)]);
        let from = |origin: &str| login().without("sec-fetch-site").header("origin", origin).send();
        leads_to(&from(PUBLIC_URL));
        for origin in [server.client.address.as_str(), "http://music.example.com"] {
            assert_eq!(from(origin).status, 403, "{origin}");
        }
        server.stop();
    }
}

/// Attack API2: reading a cookie by a script, on another host or over plain http.
#[test]
fn every_cookie_of_production_is_for_this_host_and_https_alone() {
    let (folder, provider) = (Folder::new(), naming("https://pay.example.com/1"));
    let server = paying(&folder, &provider);
    let (client, evening) = (&server.client, evening(&server.client));
    let (browser, member) = (Browser::new(client), client.person(false));
    let mut seen: Vec<(String, String, String)> = Vec::new();
    let mut sent = |answer: Answer| {
        seen.extend(set_cookies(&answer));
        leads_to(&answer).to_owned()
    };
    let place = sent(evening.request(&browser, "Blue Monday"));
    arrives(client, &place);
    sent(browser.log_in(&member.email, PASSWORD));
    let question = leads_to(&browser.post("/account/export", &[])).to_owned();
    let next = field(&browser.get(&question), "next");
    sent(browser.post("/account/confirm", &[("next", &next), ("password", PASSWORD)]));
    sent(browser.post("/logout", &[]));
    let mut names: Vec<&str> = seen.iter().map(|(name, ..)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, [SESSION, "__Host-cuepoint-browser", DRAFT, GUEST, "__Host-cuepoint-password"]);
    for (name, _, attributes) in &seen {
        let age = attributes.strip_prefix("HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=");
        assert!(age.is_some_and(|age| age.parse::<u32>().is_ok()), "{name}: {attributes}");
    }
    server.stop();
}

/// Attack API2: a sibling host sets the cookies of an attacker's browser, without the prefix that it cannot set.
#[test]
fn cookies_that_another_host_of_the_domain_sets_change_nothing() {
    let (folder, provider) = (Folder::new(), naming("https://pay.example.com/1"));
    let server = paying(&folder, &provider);
    let (client, evening) = (&server.client, evening(&server.client));
    // The attacker has a session, a wallet with money and a draft of a request.
    let attacker = Browser::new(client);
    arrives(client, &payment(&attacker, &evening));
    let (wallet, draft) = (attacker.cookie(SESSION).unwrap(), attacker.cookie(DRAFT).unwrap());
    let eve = Browser::new(client);
    leads_to(&eve.log_in(&client.person(false).email, PASSWORD));
    let planted = [
        ("cuepoint", eve.cookie(SESSION).unwrap()),
        ("cuepoint-guest", wallet.clone()),
        ("cuepoint-draft", draft),
        ("cuepoint-browser", eve.cookie("__Host-cuepoint-browser").unwrap()),
        ("cuepoint-password", wallet),
    ];
    let plant = |browser: &Browser| planted.iter().for_each(|(name, value)| browser.set_cookie(name, value));

    let ada = client.person(false);
    let member = Browser::new(client);
    leads_to(&member.log_in(&ada.email, PASSWORD));
    let own = member.cookie(SESSION);
    plant(&member);
    let account = member.get("/account");
    assert!(account.status == 200 && account.text.contains(&ada.email), "{account}");
    for path in ["/wallet", "/account", &evening.page()] {
        let page = member.get(path);
        assert!(
            !page.text.contains("10.00\u{a0}USD more") && !page.text.contains("ready to be sent"),
            "{page}"
        );
        assert!(page.header("set-cookie").is_none(), "{page}");
    }
    leads_to(&member.log_in(&ada.email, PASSWORD));
    assert_eq!(member.cookie(GUEST), None, "the wallet of the attacker is not taken over");
    assert_ne!(member.cookie(SESSION), own);

    // A browser without a session of its own has none afterwards either.
    let stranger = Browser::new(client);
    plant(&stranger);
    assert_eq!(leads_to(&stranger.get("/wallet")), "/login?next=%2Fwallet");
    assert!(payment(&stranger, &evening).starts_with("/topups/"), "it pays for itself");
    assert_eq!(stranger.cookie(GUEST), None);
    for (name, value) in &planted {
        assert_eq!(stranger.cookie(name).as_ref(), Some(value), "{name} is another host's");
    }
    server.stop();
}

/// Attack API8: a payment page by http, which everybody in the network of the guest could replace.
#[test]
fn a_payment_page_by_http_is_not_shown_in_production_and_the_log_names_it() {
    let (folder, provider) = (Folder::new(), naming("https://pay.example.com/1"));
    let server = paying(&folder, &provider);
    let (client, evening) = (&server.client, evening(&server.client));
    let encrypted = Browser::new(client);
    let page = encrypted.get(&payment(&encrypted, &evening));
    assert!(page.text.contains("href=\"https://pay.example.com/1\""), "{page}");

    for plain in ["http://pay.example.com/2", "HTTP://pay.example.com/2"] {
        provider.answers(Reply::Says(200, json!({"payment_url": plain}).to_string()));
        let guest = Browser::new(client);
        let place = payment(&guest, &evening);
        for path in [place.clone(), format!("{place}?returned=1")] {
            let page = guest.get(&path);
            assert!(page.status == 200 && !page.text.contains("pay.example.com"), "{page}");
        }
        let reference = place.strip_prefix("/topups/").unwrap();
        let line = eventually("the log names it", || {
            let lines = server.said().into_iter().filter(|line| line.contains("unusable payment page"));
            lines
                .map(|line| serde_json::from_str::<Value>(&line).unwrap())
                .find(|line| line["reference"] == reference || line["fields"]["reference"] == reference)
        });
        assert!(line.to_string().contains("not https"), "{line}");
        // The payment is ordered nevertheless, and arrives.
        arrives(client, &place);
        assert!(guest.get("/wallet").text.contains("10.00\u{a0}USD"));
    }
    let member = client.person(false);
    let topup = member.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 5}"#).send().data(201);
    assert_eq!(topup["topup"]["payment_url"], Value::Null);
    server.stop();
}

/// A nightly backup, and the way out of a lost database, do not depend on what guests see.
#[test]
fn operators_are_added_and_backups_restored_whatever_the_public_url_is() {
    let folder = Folder::new();
    let variables = in_production(&folder);
    let file = folder.path().join("cuepoint.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("public_url", "# public_url")).unwrap();
    fs::write(folder.path().join("password"), format!("{PASSWORD}\n")).unwrap();
    for (number, url) in
        [None, Some("http://music.example.com"), Some("http://127.0.0.1:8080")].into_iter().enumerate()
    {
        let url = url.map(|url| ("CUEPOINT__SERVER__PUBLIC_URL", url));
        let variables: Vec<_> = variables.into_iter().chain(url).collect();
        let [data, restored, backup] = ["data", "restored", "backup"].map(|name| format!("{name}-{number}"));
        let run = |arguments: &[&str], data: &str| {
            let mut command = folder.command(&[arguments, &["--data", data]].concat(), &variables);
            command.stdin(File::open(folder.path().join("password")).unwrap());
            let (status, said) = completed(command);
            assert!(status.success(), "{arguments:?} with {url:?}: {said}");
            said
        };
        run(&["migrate"], &data);
        let said = run(&["operator", "add", "eve@example.com", "--name", "Eve"], &data);
        assert!(said.contains("was created as an operator"), "{said}");
        run(&["backup", &backup], &data);
        let said = run(&["restore", &backup], &restored);
        assert!(said.contains("the ledger is consistent"), "{said}");
        assert!(run(&["operator", "list"], &restored).contains("eve@example.com"));
    }
}
