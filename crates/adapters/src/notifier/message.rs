//! The texts of messages to users: plain text that contains no user input except hosts of accepted URLs.

use std::net::IpAddr;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ports::{
    EndpointAct, EndpointMention, EndpointNews, Notice, SecurityCause, Token, TokenMention,
};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::webhook::DisabledReason;

use super::MessageSettings;
use crate::link_template::LinkTemplate;

/// A message. It does not implement `Debug`, because it may contain a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The subject line.
    pub subject: String,
    /// The body: lines of at most 76 characters, apart from those with a host or a link.
    pub text: String,
}

impl Message {
    /// Returns the message for a notice.
    #[must_use]
    pub fn of(notice: &Notice, settings: &MessageSettings) -> Self {
        let MessageSettings { product_name: product, reset, restore } = settings;
        let minutes = |purpose: Purpose| purpose.valid_for().whole_minutes();
        let (subject, text) = match notice {
            Notice::Code(code) => (
                format!("Your {product} code"),
                format!(
                    "Your {product} code is {}. It expires in {} minutes.\n\
                     If you didn't request this code, you can ignore this message.",
                    code.0,
                    minutes(Purpose::Email)
                ),
            ),
            Notice::EmailChangeCode(code) => (
                "Confirm your new e-mail address".to_owned(),
                format!(
                    "The code for your new {product} e-mail address is {}.\n\
                     It expires in {} minutes.\n\
                     If you didn't request this code, you can ignore this message.",
                    code.0,
                    minutes(Purpose::EmailChange)
                ),
            ),
            Notice::EmailClaimed(at) => (
                "Another account tried to use your e-mail address".to_owned(),
                format!(
                    "Someone tried to use this e-mail address for another {product} account.\n\
                     That account did not get it.\n\
                     Time: {}\n\
                     If it was you, log in to the account that has this address.\n\
                     If we told you before that your address was changed, and it wasn't you,\n\
                     restore it with the token in that message.",
                    utc(*at)
                ),
            ),
            Notice::EmailReplaced { restore: token, client, at } => (
                format!("Your {product} e-mail address was changed"),
                replaced(token.as_ref(), *client, *at, product, restore.as_ref()),
            ),
            Notice::EmailAdopted { client, at } => (
                format!("Your new {product} e-mail address"),
                format!(
                    "This address is now the e-mail address of your {product} account.\n\
                     {}\n\
                     For 48 hours, no withdrawal is approved automatically.\n\
                     {NOT_YOU}",
                    origin(*client, *at)
                ),
            ),
            Notice::PasswordReset(token) => (
                format!("Reset your {product} password"),
                format!(
                    "Reset your {product} password with this token:\n\
                     {}\n{}\
                     It expires in {} minutes and can be used once.\n\
                     If you didn't request a reset, you can ignore this message.",
                    token.0,
                    linked(reset.as_ref(), token),
                    minutes(Purpose::Password)
                ),
            ),
            Notice::PasswordChanged(news, endpoints, tokens) => (
                format!("Your {product} password was changed"),
                format!(
                    "The password of your {product} account was changed.\n\
                     {}\n\
                     If you didn't do this, reset your password immediately.{}{}",
                    origin(news.client, news.at),
                    listed(
                        "These are your webhook endpoints. Delete any that you don't recognise.",
                        endpoints
                    ),
                    listed_tokens(tokens)
                ),
            ),
            Notice::TokenCreated(news, token) => (
                "A personal access token was created".to_owned(),
                format!(
                    "{}\n\
                     {}\n\
                     {}\n\
                     If you didn't do this, end the token and all sessions,\n\
                     and change your password immediately.",
                    happened(news.cause, &format!("your {product} account")),
                    mentioned(token),
                    origin(news.client, news.at),
                ),
            ),
            Notice::SessionsEnded(news, endpoints) => (
                "Your webhook endpoints were disabled".to_owned(),
                format!(
                    "{}\n\
                     {}\n\
                     If you didn't do this, change your password immediately.{}\n\
                     New events wait. To receive them, set `paused` of each endpoint to false.\n\
                     This takes your password.",
                    happened(news.cause, &format!("your {product} account")),
                    origin(news.client, news.at),
                    listed("As a precaution, these webhook endpoints no longer receive events.", endpoints)
                ),
            ),
            Notice::OperatorSecured(user, news, endpoints) => (
                "Check the webhook endpoints of an operator".to_owned(),
                format!(
                    "{}\n\
                     {}{}",
                    happened(news.cause, &format!("the operator account {user}")),
                    origin(news.client, news.at),
                    listed(
                        "The operator set the URLs of these webhook endpoints. Those that are active\n\
                         still receive the events of all accounts. Delete unknown endpoints.",
                        endpoints
                    )
                ),
            ),
            Notice::WebhookChanged(news) => (
                match news.act {
                    EndpointAct::Created => "A webhook endpoint was created",
                    EndpointAct::Moved => "The URL of a webhook endpoint was changed",
                    EndpointAct::Rotated => "The secret of a webhook endpoint was rotated",
                    EndpointAct::Removed => "A webhook endpoint was deleted",
                }
                .to_owned(),
                changed(news, product),
            ),
            Notice::WebhookDisabled { endpoint, reason } => (
                "A webhook endpoint was disabled".to_owned(),
                format!(
                    "{product} no longer calls your webhook endpoint {endpoint}.\n\
                     Reason: {}\n\
                     New events wait. To receive them, set `paused` of the endpoint to false.",
                    match reason {
                        DisabledReason::Gone => "it answered 410 Gone. Correct the receiver first.",
                        DisabledReason::Failing => {
                            "no delivery has succeeded for five days. Correct the receiver first."
                        }
                        DisabledReason::Security => "all sessions ended or the password was reset.",
                        DisabledReason::SecretLost => "its secret was lost. Rotate the secret first.",
                    }
                ),
            ),
        };
        Self { subject, text }
    }
}

/// What to do about an act of a stranger that the user cannot undo.
const NOT_YOU: &str = "If you didn't do this, contact the operators of the service.";

/// What happened to an account.
fn happened(cause: SecurityCause, account: &str) -> String {
    match cause {
        SecurityCause::PasswordChanged => format!("The password of {account} was changed."),
        SecurityCause::PasswordReset => format!("The password of {account} was reset."),
        SecurityCause::EmailRestored => {
            format!("The previous e-mail address of {account}\nwas restored.")
        }
        SecurityCause::SessionsEnded => format!("All sessions of {account} were ended."),
        SecurityCause::RefreshTokenReused(_) => format!(
            "A session of {account} was ended,\n\
             because its refresh token was used twice. Someone may have stolen the token."
        ),
        SecurityCause::TokenCreated(_) => format!("A personal access token of {account} was created."),
    }
}

/// The line with the link for a token; nothing without a link.
fn linked(link: Option<&LinkTemplate>, token: &Token) -> String {
    link.map(|link| format!("or open {}\n", link.link(&token.0))).unwrap_or_default()
}

/// The replacement of an address, with the token that restores it.
fn replaced(
    restore: Option<&(Token, Timestamp)>,
    client: Option<IpAddr>,
    at: Timestamp,
    product: &str,
    link: Option<&LinkTemplate>,
) -> String {
    let help = match restore {
        Some((token, until)) => format!(
            "If you didn't do this, restore this address with this token:\n\
             {}\n{}\
             This ends all sessions and sets a new password. Choose a password that you\n\
             never used before, because someone may know the old one.\n\
             The token expires at {} and can be used once.",
            token.0,
            linked(link, token),
            utc(*until)
        ),
        None => NOT_YOU.to_owned(),
    };
    format!(
        "The e-mail address of your {product} account was changed to another address.\n\
         {}\n\
         {help}",
        origin(client, at)
    )
}

/// The time and the address of the client that did something.
fn origin(client: Option<IpAddr>, at: Timestamp) -> String {
    let client = client.map_or_else(|| "unknown".to_owned(), |client| client.to_string());
    format!("Time: {}\nIP address: {client}", utc(at))
}

/// The endpoints below an introduction; nothing if there are none.
fn listed(introduction: &str, endpoints: &[EndpointMention]) -> String {
    let lines = endpoints.iter().map(|mention| {
        let events = events_of(mention.feed);
        format!("\n- {}, {events}, {}:\n  {}", mention.endpoint, mention.state, mention.host)
    });
    if endpoints.is_empty() {
        String::new()
    } else {
        format!("\n{introduction}{}", lines.collect::<String>())
    }
}

/// The tokens that are still valid; nothing if there are none.
fn listed_tokens(tokens: &[TokenMention]) -> String {
    if tokens.is_empty() {
        return String::new();
    }
    let lines = tokens.iter().map(|token| format!("\n- {}", mentioned(token)));
    format!(
        "\nThese personal access tokens are still valid. End any that you don't\nrecognise.{}",
        lines.collect::<String>()
    )
}

/// A token with its scopes and its expiry, on two lines.
fn mentioned(token: &TokenMention) -> String {
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
    format!("Token {}: {}\n  Expires: {}", token.id, scopes.join(", "), utc(token.expires_at))
}

const fn events_of(feed: Feed) -> &'static str {
    match feed {
        Feed::Own => "events of the account",
        Feed::All => "events of all accounts",
    }
}

/// A change of an endpoint, with what helps to recognise an unauthorized one.
fn changed(news: &EndpointNews, product: &str) -> String {
    let EndpointNews { act, endpoint, feed, host, by, client, at } = news;
    let act = match act {
        EndpointAct::Created => "created",
        EndpointAct::Moved => "changed the URL of",
        EndpointAct::Rotated => "rotated the secret of",
        EndpointAct::Removed => "deleted",
    };
    let (author, help) = match feed {
        Feed::Own => (
            format!("Your {product} account"),
            "If you didn't do this, delete the endpoint, end all sessions\n\
             and change your password immediately.",
        ),
        Feed::All => (
            format!("The operator account {by}"),
            "If the operator didn't do this, delete the endpoint. The operator has to end\n\
             all sessions and change the password immediately.",
        ),
    };
    format!(
        "{author} {act}\n\
         the webhook endpoint {endpoint} for the {}.\n\
         Host: {host}\n\
         {}\n\
         {help}",
        events_of(*feed),
        origin(*client, *at),
    )
}

/// A time to the second.
fn utc(at: Timestamp) -> String {
    let at = at.to_utc();
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
    use cuepoint_domain::ports::SecurityNews;
    use cuepoint_domain::user::personal_token::TokenScope;

    #[test]
    fn email_lines_have_at_most_76_columns() {
        let (code, token) = (Token("042137".to_owned()), Token("x".repeat(43)));
        let endpoint = WebhookEndpointId::new(i64::MAX).unwrap();
        let disabled = |reason| Notice::WebhookDisabled { endpoint, reason };
        let user = UserId::new(i64::MAX).unwrap();
        let mention = |feed| EndpointMention {
            endpoint,
            feed,
            host: "hooks.example.com".to_owned(),
            state: "disabled",
        };
        let mentions = vec![mention(Feed::Own), mention(Feed::All)];
        let session = SessionId::new(i64::MAX).unwrap();
        let client = Some("2001:db8:1234:5678:9abc:def0:1234:5678".parse().unwrap());
        let at = Timestamp::EPOCH;
        let mentioned_token =
            TokenMention { id: session, scopes: TokenScope::all().collect(), expires_at: at };
        let causes = [
            SecurityCause::PasswordReset,
            SecurityCause::EmailRestored,
            SecurityCause::SessionsEnded,
            SecurityCause::RefreshTokenReused(session),
        ];
        let causes = causes.map(|cause| SecurityNews { cause, client, at });
        let acts = [EndpointAct::Created, EndpointAct::Moved, EndpointAct::Rotated, EndpointAct::Removed];
        let news = |feed, act| EndpointNews {
            act,
            endpoint,
            feed,
            host: "hooks.example.com".to_owned(),
            by: user,
            client,
            at,
        };
        let changes =
            [Feed::Own, Feed::All].map(|feed| acts.map(|act| Notice::WebhookChanged(news(feed, act))));
        let ended = causes.map(|news| Notice::SessionsEnded(news, mentions.clone()));
        let secured = causes.map(|news| Notice::OperatorSecured(user, news, mentions.clone()));
        let replaced = |restore| Notice::EmailReplaced { restore, client, at };
        let notices = [
            Notice::Code(code.clone()),
            Notice::EmailChangeCode(code),
            Notice::EmailClaimed(at),
            replaced(None),
            replaced(Some((token.clone(), at))),
            Notice::EmailAdopted { client, at },
            Notice::PasswordReset(token),
            Notice::PasswordChanged(causes[0], mentions.clone(), vec![mentioned_token.clone()]),
            Notice::TokenCreated(
                SecurityNews { cause: SecurityCause::TokenCreated(session), client, at },
                mentioned_token,
            ),
        ];
        let notices = notices.into_iter().chain(changes.into_iter().flatten()).chain(ended).chain(secured);
        for notice in notices.chain(DisabledReason::all().map(disabled)) {
            let text = Message::of(&notice, &MessageSettings::default()).text;
            assert!(text.lines().all(|line| line.len() <= 76), "{text}");
        }
    }

    #[test]
    fn verification_and_password_reset_emails_show_the_secret_and_its_lifetime() {
        let message = |notice| Message::of(&notice, &MessageSettings::default());
        let code = message(Notice::Code(Token("042137".to_owned())));
        assert!(code.text.starts_with("Your Cuepoint code is 042137. It expires in 10 minutes."));
        let reset = message(Notice::PasswordReset(Token("t0k".to_owned())));
        assert!(reset.text.contains(":\nt0k\n") && reset.text.contains("30 minutes"), "{}", reset.text);
    }

    #[test]
    fn messages_name_the_product_of_the_deployment() {
        let settings = MessageSettings { product_name: "Club Nova".to_owned(), ..MessageSettings::default() };
        let message = Message::of(&Notice::Code(Token("042137".to_owned())), &settings);
        assert_eq!(message.subject, "Your Club Nova code");
        assert!(message.text.starts_with("Your Club Nova code is 042137."), "{}", message.text);
    }
}
