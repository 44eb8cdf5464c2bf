//! What waits for its payment: a request or a tip, in a cookie of the guest's browser.
//!
//! A draft is the guest's own text, which is checked again when it is sent. It names its user, so that it is void in
//! another session of the same browser.

use actix_web::cookie::Cookie;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::gig::consent::Asked;
use cuepoint_domain::ids::{self, UserId};
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::music_request::{Agreement, NewRequest};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::ShortMessage;
use cuepoint_pages::payment::DraftPurpose;

use crate::call::{FormKey, PageCall};
use crate::cookies::PageCookie;
use crate::form::Form;
use crate::response::PageResponse;

/// The time for which a draft waits for its payment, in seconds.
const SECONDS: i64 = 30 * 60;
/// The end of the path to which drafts are sent.
const PATH: &str = "/draft";
/// What separates the fields: a control character, which no valid text contains.
const SEPARATOR: &str = "\n";

/// A request or a tip that waits for its payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Draft {
    user: UserId,
    /// The top-up that pays for it. After any other payment, the guest decides.
    pub(super) topup: Option<ProviderReference>,
    /// The code of the DJ.
    pub(super) code: DjCode,
    pub(super) purpose: DraftPurpose,
    /// The form to send, with the key of the form that the guest sent first.
    pub(super) form: Form,
}

/// The fields of a draft's form.
const fn fields(purpose: DraftPurpose) -> &'static [&'static str] {
    match purpose {
        DraftPurpose::Request => {
            &["key", "song_title", "artist_name", "kind", "offer", "price", "asked", "message"]
        }
        DraftPurpose::Tip => &["key", "amount"],
    }
}

const fn name(purpose: DraftPurpose) -> &'static str {
    match purpose {
        DraftPurpose::Request => "request",
        DraftPurpose::Tip => "tip",
    }
}

impl Draft {
    /// The draft of a valid request at this fee, with the questions that the guest has answered.
    pub(super) fn of_request(
        (principal, code): (&Principal, DjCode),
        key: &FormKey,
        (new, fee): (&NewRequest, Money),
        asked: &Asked,
        currency: &Currency,
    ) -> Self {
        let (fee, asked) = (currency.print(fee), asked.print(currency));
        let is_exact = matches!(new.fee, Some(Agreement::Exactly(_)));
        let values = [
            key.as_str(),
            new.song_title.as_str(),
            new.artist_name.as_str(),
            new.artist_type.name(),
            if is_exact { &fee } else { "price" },
            &fee,
            &asked,
            new.message.as_ref().map_or("", ShortMessage::as_str),
        ];
        Self::new(principal.user, code, DraftPurpose::Request, values)
    }

    /// The draft of a tip.
    pub(super) fn of_tip(
        (principal, code): (&Principal, DjCode),
        key: &FormKey,
        amount: Amount,
        currency: &Currency,
    ) -> Self {
        let values = [key.as_str(), &currency.print(amount.money())];
        Self::new(principal.user, code, DraftPurpose::Tip, values)
    }

    fn new<'a>(
        user: UserId,
        code: DjCode,
        purpose: DraftPurpose,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let named = fields(purpose).iter().zip(values);
        let form = named.fold(Form::default(), |form, (name, value)| form.with(name, value.to_owned()));
        Self { user, topup: None, code, purpose, form }
    }

    /// The draft that this top-up pays for.
    pub(super) fn paid_by(self, topup: ProviderReference) -> Self {
        Self { topup: Some(topup), ..self }
    }

    /// The form that sends it: it displayed the price of the draft.
    pub(super) fn sent_form(self) -> Form {
        let (kind, price) = (self.form.text("kind").to_owned(), self.form.text("price").to_owned());
        self.form.with(&format!("price_{kind}"), price)
    }

    /// Whether this top-up pays for it.
    pub(super) fn is_paid_by(&self, topup: ProviderReference) -> bool {
        self.topup == Some(topup)
    }

    /// The draft of this browser, if it belongs to the user of the session.
    pub(super) fn of(call: &PageCall) -> Option<Self> {
        let user = call.principal?.user;
        let draft = Self::decode(&call.cookie(PageCookie::Draft)?)?;
        (draft.user == user).then_some(draft)
    }

    /// The draft of this browser with the key that the form names. A page may show another one that is gone.
    pub(super) fn named(call: &PageCall) -> Option<Self> {
        Self::of(call).filter(|draft| draft.form.text("key") == call.form.text("key"))
    }

    /// Whether the form is a draft, whose money has arrived.
    pub(super) fn is_sent_by(call: &PageCall) -> bool {
        call.path().ends_with(PATH)
    }

    /// What the draft costs.
    pub(super) fn price(&self, currency: &Currency) -> Money {
        let field = match self.purpose {
            DraftPurpose::Request => "price",
            DraftPurpose::Tip => "amount",
        };
        currency.parse_typed(self.form.text(field)).unwrap_or_default()
    }

    /// The cookie that keeps the draft until its payment arrives.
    pub(super) fn cookie(&self, call: &PageCall) -> Cookie<'static> {
        call.state.settings.cookies.keep(PageCookie::Draft, self.encode(), SECONDS)
    }

    /// The answer to a form that was sent, after which the draft of the same form is forgotten. Another one still waits.
    pub(super) fn forgotten_with(call: &PageCall, answer: PageResponse) -> PageResponse {
        match Self::named(call) {
            Some(_) => answer.with_cookie(&call.state.settings.cookies.forget(PageCookie::Draft)),
            None => answer,
        }
    }

    /// The answer that begins another session. A draft belongs to the previous one.
    pub(super) fn dropped_with(call: &PageCall, answer: PageResponse) -> PageResponse {
        match call.cookie(PageCookie::Draft) {
            Some(_) => answer.with_cookie(&call.state.settings.cookies.forget(PageCookie::Draft)),
            None => answer,
        }
    }

    /// The value of the cookie. Base64 of the plain text fits every valid request into the 4096 bytes of a cookie;
    /// escaped, a letter beyond ASCII would take up to twelve.
    fn encode(&self) -> String {
        let topup = self.topup.map_or_else(String::new, |topup| topup.to_string());
        let head = [name(self.purpose).to_owned(), self.user.to_string(), topup, self.code.to_string()];
        let values = fields(self.purpose).iter().map(|name| self.form.text(name).to_owned());
        let lines: Vec<String> = head.into_iter().chain(values).collect();
        URL_SAFE_NO_PAD.encode(lines.join(SEPARATOR))
    }

    fn decode(value: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
        let mut lines = text.split(SEPARATOR);
        let (named, user, topup, code) = (lines.next()?, lines.next()?, lines.next()?, lines.next()?);
        let purpose =
            [DraftPurpose::Request, DraftPurpose::Tip].into_iter().find(|purpose| name(*purpose) == named)?;
        let (user, code) = (ids::written(user).and_then(UserId::new)?, DjCode::new(code)?);
        let values: Vec<&str> = lines.collect();
        let is_whole = values.len() == fields(purpose).len();
        is_whole.then(|| Self { topup: topup.parse().ok(), ..Self::new(user, code, purpose, values) })
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::authorization::Principal;
    use cuepoint_domain::ids::SessionId;
    use cuepoint_domain::text::Line;
    use cuepoint_domain::user::{ArtistType, Role};

    use super::*;
    use crate::cookies::Cookies;

    /// What browsers keep of a cookie, in bytes, its name and attributes included.
    const MOST_OF_COOKIE: usize = 4_096;

    fn principal() -> Principal {
        let (user, session) = (UserId::new(i64::MAX).unwrap(), SessionId::new(1).unwrap());
        Principal { user, role: Role::Guest, is_dj: false, session }
    }

    fn key(length: usize) -> FormKey {
        FormKey::of(&Form::default().with("key", "k".repeat(length))).unwrap()
    }

    /// A request whose texts consist of this character, as often as they may.
    fn longest(character: char) -> Draft {
        let text = |most| character.to_string().repeat(most);
        let currency = Currency::new("EUR", 2).unwrap();
        let new = NewRequest {
            dj: UserId::new(1).unwrap(),
            song_title: Line::new(&text(cuepoint_domain::text::MAX_CHARACTERS)).unwrap(),
            artist_name: Line::new(&text(cuepoint_domain::text::MAX_CHARACTERS)).unwrap(),
            artist_type: ArtistType::Upcoming,
            music_url: None,
            fee: Some(Agreement::Exactly(currency.largest())),
            message: Some(ShortMessage::new(&text(ShortMessage::MAX_CHARACTERS)).unwrap()),
        };
        let code = DjCode::new("K7TW3M").unwrap();
        let topup = "ffffffff-ffff-ffff-ffff-ffffffffffff".parse().unwrap();
        let asked =
            format!("{} 0123456789abcdef price played accepted own", currency.print(currency.largest()));
        let asked = Asked::read(&asked, &currency).unwrap();
        let draft = (&new, currency.largest());
        Draft::of_request((&principal(), code), &key(160), draft, &asked, &currency).paid_by(topup)
    }

    #[test]
    fn every_valid_request_fits_into_the_cookie_and_comes_back_as_it_was() {
        let cookies = Cookies { is_encrypted: true };
        for character in ['x', 'ä', '\u{20ac}', '\u{1f3b5}', '%', '"', '&'] {
            let draft = longest(character);
            let cookie = cookies.keep(PageCookie::Draft, draft.encode(), SECONDS).to_string();
            assert!(cookie.len() <= MOST_OF_COOKIE, "{character}: {}", cookie.len());
            assert_eq!(Draft::decode(&draft.encode()), Some(draft));
        }
    }

    #[test]
    fn a_tip_comes_back_as_it_was() {
        let currency = Currency::new("EUR", 2).unwrap();
        let amount = Amount::new(Money::from_minor(505)).unwrap();
        let code = DjCode::new("K7TW3M").unwrap();
        let draft = Draft::of_tip((&principal(), code), &key(22), amount, &currency);
        assert_eq!(Draft::decode(&draft.encode()), Some(draft.clone()));
        assert_eq!(draft.price(&currency), amount.money());
    }

    #[test]
    fn other_texts_are_no_draft() {
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for value in [
            String::new(),
            "song_title=a&code=K7TW3M".to_owned(),
            URL_SAFE_NO_PAD.encode([0xff, 0xfe]),
            encoded(""),
            encoded("tip\n1\n7\nK7TW3M\nkey"),
            encoded("tip\n1\n7\nK7TW3M\nkey\n5\n6"),
            encoded("gift\n1\n7\nK7TW3M\nkey\n5"),
            encoded("tip\n0\n7\nK7TW3M\nkey\n5"),
            encoded("tip\n1\n7\n../wallet\nkey\n5"),
        ] {
            assert_eq!(Draft::decode(&value), None, "{value}");
        }
    }
}
