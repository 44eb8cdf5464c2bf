//! The texts of messages to users: plain text that contains no user input except hosts of accepted URLs.

use std::net::IpAddr;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{EndpointAct, EndpointMention, EndpointNews, Notice, SecurityCause, Token};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::webhook::DisabledReason;

use super::{LinkTemplate, MessageLinks};

/// A message. It does not implement `Debug`, because it may contain a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The subject line.
    pub subject: &'static str,
    /// The body: lines of at most 76 characters, apart from those with a host or a link.
    pub text: String,
}

impl Message {
    /// Returns the message for a notice.
    #[must_use]
    pub fn of(notice: &Notice, links: &MessageLinks) -> Self {
        let minutes = |purpose: Purpose| purpose.valid_for().whole_minutes();
        let (subject, text) = match notice {
            Notice::Code(code) => (
                "Your Cuepoint code",
                format!(
                    "Your Cuepoint code is {}. It expires in {} minutes.\n\
                     If you didn't request this code, you can ignore this message.",
                    code.0,
                    minutes(Purpose::Email)
                ),
            ),
            Notice::EmailChangeCode(code) => (
                "Confirm your new e-mail address",
                format!(
                    "The code for your new Cuepoint e-mail address is {}.\n\
                     It expires in {} minutes.\n\
                     If you didn't ask for it, you can ignore this message.",
                    code.0,
                    minutes(Purpose::EmailChange)
                ),
            ),
            Notice::EmailClaimed(at) => (
                "Your address was named for another account",
                format!(
                    "The user of another Cuepoint account named this address as theirs.\n\
                     Time: {}\n\
                     That account did not get it.\n\
                     If it was you, log in to the account that has this address.",
                    utc(*at)
                ),
            ),
            Notice::EmailReplaced { restore, client, at } => (
                "The e-mail address of your account was replaced",
                replaced(restore.as_ref(), *client, *at, links.restore.as_ref()),
            ),
            Notice::EmailAdopted { client, at } => (
                "This is the new e-mail address of your account",
                format!(
                    "This address is now the e-mail address of your Cuepoint account.\n\
                     {}\n\
                     For 48 hours, no withdrawal is approved automatically.",
                    origin(*client, *at)
                ),
            ),
            Notice::PasswordReset(token) => (
                "Reset your Cuepoint password",
                format!(
                    "Reset your Cuepoint password with this token:\n\
                     {}\n{}\
                     It expires in {} minutes and can be used once.\n\
                     If you didn't request a reset, you can ignore this message.",
                    token.0,
                    linked(links.reset.as_ref(), token),
                    minutes(Purpose::Password)
                ),
            ),
            Notice::PasswordChanged(endpoints) => (
                "Your Cuepoint password was changed",
                format!(
                    "The password of your Cuepoint account was changed.\n\
                     If you didn't make this change, reset your password immediately.{}",
                    listed("These webhook endpoints are yours. Delete those that you don't know.", endpoints)
                ),
            ),
            Notice::SessionsEnded(cause, endpoints) => (
                "Webhook endpoints of your account were stopped",
                format!(
                    "{} of your Cuepoint account.{}\n\
                     New events wait. To receive them, set `paused` of an endpoint to false,\n\
                     with your password.",
                    happened(*cause),
                    listed("These webhook endpoints no longer receive events for that reason.", endpoints)
                ),
            ),
            Notice::OperatorSecured(user, cause, endpoints) => (
                "Check the webhook endpoints of an operator",
                format!(
                    "{}\n\
                     of the operator account {user}.{}",
                    happened(*cause),
                    listed(
                        "This account set the URLs of these webhook endpoints, which still receive\n\
                         the events of all accounts if they are active. Delete unknown ones.",
                        endpoints
                    )
                ),
            ),
            Notice::WebhookChanged(news) => (
                match news.act {
                    EndpointAct::Created => "A webhook endpoint was created",
                    EndpointAct::Moved => "The URL of a webhook endpoint was changed",
                    EndpointAct::Rotated => "The secret of a webhook endpoint was rotated",
                    EndpointAct::Removed => "A webhook endpoint was removed",
                },
                changed(news),
            ),
            Notice::WebhookDisabled { endpoint, reason } => (
                "A webhook endpoint was disabled",
                format!(
                    "Cuepoint no longer calls the webhook endpoint {endpoint}\n\
                     that you created, because {}.\n\
                     New events wait. To receive them, correct the receiver and set `paused`\n\
                     of the endpoint to false.",
                    match reason {
                        DisabledReason::Gone => "it answered 410 Gone",
                        DisabledReason::Failing => "no delivery has succeeded for five days",
                        DisabledReason::Security => "all sessions ended or the password was reset",
                        DisabledReason::SecretLost => "its secret is lost: rotate it first",
                    }
                ),
            ),
        };
        Self { subject, text }
    }
}

/// What happened to the sessions of a user.
const fn happened(cause: SecurityCause) -> &'static str {
    match cause {
        SecurityCause::PasswordChanged => "A new password was set with the previous one",
        SecurityCause::PasswordReset => "The password was reset by e-mail",
        SecurityCause::EmailRestored => "The previous e-mail address was restored",
        SecurityCause::SessionsEnded => "All sessions were ended",
        SecurityCause::RefreshTokenReused(_) => {
            "A session was ended because a used refresh token was presented again,\n\
             so another party may have it: a session"
        }
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
    link: Option<&LinkTemplate>,
) -> String {
    let help = match restore {
        Some((token, until)) => format!(
            "If you didn't do this, restore this address with this token:\n\
             {}\n{}\
             That ends all sessions and sets a new password: choose another one\n\
             than before, which somebody may know.\n\
             The token expires at {} and can be used once.",
            token.0,
            linked(link, token),
            utc(*until)
        ),
        None => "If you didn't do this, ask the operators of the service for help.".to_owned(),
    };
    format!(
        "The e-mail address of your Cuepoint account was replaced by another one.\n\
         {}\n\
         {help}",
        origin(client, at)
    )
}

/// The time and the address of the client that did something.
fn origin(client: Option<IpAddr>, at: Timestamp) -> String {
    let client = client.map_or_else(|| "unknown".to_owned(), |client| client.to_string());
    format!("Time: {}\nClient address: {client}", utc(at))
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

const fn events_of(feed: Feed) -> &'static str {
    match feed {
        Feed::Own => "events of the account",
        Feed::All => "events of all accounts",
    }
}

/// A change of an endpoint, with what helps to recognise an unauthorized one.
fn changed(news: &EndpointNews) -> String {
    let EndpointNews { act, endpoint, feed, host, by, client, at } = news;
    let act = match act {
        EndpointAct::Created => "was created",
        EndpointAct::Moved => "has a new URL",
        EndpointAct::Rotated => "has a new secret",
        EndpointAct::Removed => "was removed",
    };
    format!(
        "The webhook endpoint {endpoint} {act}\n\
         by {}, for the {}.\n\
         Host: {host}\n\
         {}\n\
         If {}, delete the endpoint,\n\
         end all sessions of the account and change its password immediately.",
        author(*feed, *by),
        events_of(*feed),
        origin(*client, *at),
        match feed {
            Feed::Own => "you didn't do this",
            Feed::All => "the operator didn't do this",
        }
    )
}

fn author(feed: Feed, by: UserId) -> String {
    match feed {
        Feed::Own => "your Cuepoint account".to_owned(),
        Feed::All => format!("the operator account {by}"),
    }
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
    use cuepoint_domain::ids::{SessionId, WebhookEndpointId};

    #[test]
    fn message_lines_fit_into_76_columns() {
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
        let causes = [
            SecurityCause::PasswordReset,
            SecurityCause::EmailRestored,
            SecurityCause::SessionsEnded,
            SecurityCause::RefreshTokenReused(session),
        ];
        let acts = [EndpointAct::Created, EndpointAct::Moved, EndpointAct::Rotated, EndpointAct::Removed];
        let news = |feed, act| EndpointNews {
            act,
            endpoint,
            feed,
            host: "hooks.example.com".to_owned(),
            by: user,
            client: Some("2001:db8:1234:5678:9abc:def0:1234:5678".parse().unwrap()),
            at: Timestamp::EPOCH,
        };
        let changes =
            [Feed::Own, Feed::All].map(|feed| acts.map(|act| Notice::WebhookChanged(news(feed, act))));
        let ended = causes.map(|cause| Notice::SessionsEnded(cause, mentions.clone()));
        let secured = causes.map(|cause| Notice::OperatorSecured(user, cause, mentions.clone()));
        let client = Some("2001:db8:1234:5678:9abc:def0:1234:5678".parse().unwrap());
        let at = Timestamp::EPOCH;
        let replaced = |restore| Notice::EmailReplaced { restore, client, at };
        let notices = [
            Notice::Code(code.clone()),
            Notice::EmailChangeCode(code),
            Notice::EmailClaimed(at),
            replaced(None),
            replaced(Some((token.clone(), at))),
            Notice::EmailAdopted { client, at },
            Notice::PasswordReset(token),
            Notice::PasswordChanged(mentions.clone()),
        ];
        let notices = notices.into_iter().chain(changes.into_iter().flatten()).chain(ended).chain(secured);
        for notice in notices.chain(DisabledReason::all().map(disabled)) {
            let text = Message::of(&notice, &MessageLinks::default()).text;
            assert!(text.lines().all(|line| line.len() <= 76), "{text}");
        }
    }

    #[test]
    fn a_message_contains_the_secret_and_its_lifetime() {
        let message = |notice| Message::of(&notice, &MessageLinks::default());
        let code = message(Notice::Code(Token("042137".to_owned())));
        assert!(code.text.starts_with("Your Cuepoint code is 042137. It expires in 10 minutes."));
        let reset = message(Notice::PasswordReset(Token("t0k".to_owned())));
        assert!(reset.text.contains(":\nt0k\n") && reset.text.contains("30 minutes"), "{}", reset.text);
    }
}
