use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn messages_of<T: std::fmt::Debug>(read: Read<T>) -> Vec<String> {
    match read.unwrap_err() {
        InvalidValue::Empty => vec!["(empty)".to_owned()],
        InvalidValue::Problems(problems) => problems.into_iter().map(|problem| problem.sentence).collect(),
    }
}

#[test]
fn withdrawal_amounts_are_at_least_1_with_at_most_two_decimals() {
    let usd = Currency::new("USD", 2).unwrap();
    let read = |text: &str| withdrawal_amount(&usd)("amount", &raw(text)).map(WithdrawalAmount::get);
    for (text, minor) in [("1", 100), ("1.00", 100), ("1e0", 100), ("12.5", 1_250)] {
        assert_eq!(read(text).unwrap().money().minor(), minor, "{text}");
    }
    let (number, least) = ("The amount field must be a number.", "The amount field must be at least 1.");
    let decimals = "The amount field must have 0-2 decimal places.";
    let most = "The amount field must not be greater than 1000000000000.";
    for (text, messages) in [
        ("\"5\"", vec![number]),
        ("true", vec![number]),
        ("{}", vec![number]),
        ("-0", vec![number]),
        ("1e400", vec![number]),
        ("1e999999999", vec![number]),
        ("0", vec![least]),
        ("0.99", vec![least]),
        ("-5", vec![least]),
        ("-1e13", vec![least]),
        ("1.005", vec![decimals]),
        ("0.999999999999999999999", vec![decimals, least]),
        ("-0.001", vec![decimals, least]),
        ("1e13", vec![most]),
    ] {
        assert_eq!(messages_of(read(text)), messages, "{text}");
    }
}

#[test]
fn adjustments_are_signed_and_nonzero() {
    let usd = Currency::new("USD", 2).unwrap();
    let read = |text: &str| correction(&usd)("amount", &raw(text));
    for (text, minor) in
        [("1", 100), ("-1", -100), ("-0.01", -1), ("-2.50000", -250), ("-1e12", -100_000_000_000_000)]
    {
        assert_eq!(read(text).unwrap().sum().minor(), minor, "{text}");
    }
    let number = "The amount field must be a number.";
    let bounds = "The amount field must be between -1000000000000 and 1000000000000.";
    for (text, message) in [
        ("0", "The amount field must not be 0."),
        ("0.00", "The amount field must not be 0."),
        ("-0", number),
        ("\"5\"", number),
        ("-0.001", "The amount field must have 0-2 decimal places."),
        ("1e13", bounds),
        ("-1e13", bounds),
    ] {
        assert_eq!(messages_of(read(text)), [message], "{text}");
    }
}

#[test]
fn a_currency_without_decimals_allows_no_fraction() {
    let yen = Currency::new("JPY", 0).unwrap();
    let read = |text: &str| money(&yen, Money::ZERO)("fee", &raw(text));
    assert_eq!(read("0").unwrap(), Money::ZERO);
    assert_eq!(messages_of(read("0.5")), ["The fee field must have 0 decimal places."]);
    assert_eq!(messages_of(read("-1")), ["The fee field must be at least 0."]);
}

#[test]
fn texts_are_trimmed_and_checked_for_their_length_and_format() {
    assert_eq!(line("name", &raw("\" Ada \"")).unwrap().as_str(), "Ada");
    assert_eq!(line("name", &raw("\"  \"")), Err(InvalidValue::Empty));
    assert_eq!(messages_of(line("name", &raw("5"))), ["The name field must be a string."]);
    assert_eq!(messages_of(line("name", &raw("\"a\\u0000b\""))), ["The name field format is invalid."]);
    assert_eq!(
        messages_of(line("name", &raw(&format!("\"{}\"", "é".repeat(256))))),
        ["The name field must not be greater than 255 characters."]
    );
    assert_eq!(
        messages_of(email("email", &raw("\"ada\""))),
        ["The email field must be a valid email address."]
    );
    assert_eq!(
        messages_of(password("password", &raw("\"1234567\""))),
        ["The password field must be at least 8 characters."]
    );
    assert_eq!(
        messages_of(music_url("music_url", &raw("\"ftp://x/y\""))),
        ["The music url field must be an http or https link."]
    );
}

#[test]
fn ids_are_positive_whole_numbers() {
    assert_eq!(user_id("dj_id", &raw("7")).unwrap().get(), 7);
    for text in ["1.0", "1e0", "\"7\"", "9223372036854775808", "true"] {
        assert_eq!(
            messages_of(user_id("dj_id", &raw(text))),
            ["The dj id field must be an integer."],
            "{text}"
        );
    }
    for text in ["0", "-1"] {
        assert_eq!(messages_of(user_id("dj_id", &raw(text))), ["The selected dj id is invalid."], "{text}");
    }
}

#[test]
fn positions_are_nonnegative_whole_numbers() {
    assert_eq!(position("after", &raw("0")), Ok(Position::START));
    for (text, message) in [
        ("-1", "The after field must be at least 0."),
        ("1.5", "The after field must be an integer."),
        ("\"1\"", "The after field must be an integer."),
    ] {
        assert_eq!(messages_of(position("after", &raw(text))), [message], "{text}");
    }
}

#[test]
fn empty_event_type_lists_and_unknown_event_types_are_refused() {
    let read = |text: &str| event_types("types", &raw(text));
    let created = BTreeSet::from([EventType::TopupCreated]);
    assert_eq!(read(r#"["topup.created", "topup.created"]"#), Ok(created));
    let list = "The types field must be a list.";
    for (text, message) in [
        ("\"topup.created\"", list),
        ("{}", list),
        ("[]", "The types field must have at least 1 item."),
        (r#"["topup.created", "topup.lost"]"#, "The types field has an unknown value: topup.lost."),
        ("[5]", "The types field has an unknown value: 5."),
        ("[null]", "The types field has an unknown value: null."),
    ] {
        assert_eq!(messages_of(read(text)), [message], "{text}");
    }
}

#[test]
fn endpoint_urls_must_be_visible_ascii() {
    let read = |text: &str| endpoint_url("url", &raw(text));
    assert_eq!(read("\" https://example.com/hook \"").unwrap().as_str(), "https://example.com/hook");
    assert_eq!(read("\" \""), Err(InvalidValue::Empty));
    let long = format!("\"https://example.com/{}\"", "x".repeat(2_048));
    for (text, message) in [
        (r#""https://bücher.example""#, "The url field must be a valid URL."),
        (r#""https://example.com/a b""#, "The url field must be a valid URL."),
        (long.as_str(), "The url field must not be greater than 2048 characters."),
        ("5", "The url field must be a string."),
    ] {
        assert_eq!(messages_of(read(text)), [message], "{text}");
    }
}

#[test]
fn choices_ignore_letter_case_and_flags_are_booleans_or_0_or_1() {
    for text in ["\"upcoming\"", "\"Upcoming_Artist\"", "\" UPCOMING \""] {
        assert_eq!(artist_type("artist_type", &raw(text)), Ok(ArtistType::Upcoming), "{text}");
    }
    assert_eq!(artist_type("artist_type", &raw("\"popular_song\"")), Ok(ArtistType::Popular));
    assert_eq!(
        messages_of(artist_type("artist_type", &raw("\"old\""))),
        ["The selected artist type is invalid."]
    );
    assert_eq!(dj_answer("status", &raw("\"played\"")), Ok(DjAnswer::Play));
    assert_eq!(messages_of(dj_answer("status", &raw("\"pending\""))), ["The selected status is invalid."]);
    for (text, yes) in [("true", true), ("1", true), ("false", false), ("0", false)] {
        assert_eq!(flag("online", &raw(text)), Ok(yes), "{text}");
    }
    for text in ["2", "\"1\"", "1.0", "[]"] {
        assert_eq!(messages_of(flag("online", &raw(text))), ["The online field must be 0 or 1."], "{text}");
        assert_eq!(messages_of(boolean("is_dj", &raw(text))), ["The is dj field must be true or false."]);
    }
}

#[test]
fn degrees_outside_the_bounds_are_refused() {
    let read = |text: &str| degrees(90)("latitude", &raw(text));
    assert!(read("-90").is_ok() && read("52.5").is_ok() && read("9e1").is_ok());
    for text in ["90.1", "1e400", "-1e9"] {
        assert_eq!(messages_of(read(text)), ["The latitude field must be between -90 and 90."], "{text}");
    }
    assert_eq!(messages_of(read("\"5\"")), ["The latitude field must be a number."]);
    assert!(read("-0").unwrap().is_sign_positive());
}
