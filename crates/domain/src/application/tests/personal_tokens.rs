//! The principal's own personal access tokens, on doubles of the ports.

use std::collections::BTreeSet;

use super::*;
use crate::application::users::{OwnTokens, TokenRequest, TokenRequestRefusal};
use crate::ports::TokenAddition;
use crate::text::Password;
use crate::user::personal_token::{TokenDays, TokenScope};
use crate::user::session::TokenHash;

/// Tokens of guest 1, whose password check gives this result.
fn own_tokens(verified: PasswordCheck, tokens: MockPersonalTokens, noted: SecurityEventKind) -> OwnTokens {
    let mut logins = MockLogins::new();
    logins.expect_credentials_of().returning(|user| {
        Ok(Some(Credentials { user, role: Role::Member, password: PasswordHash("before".to_owned()) }))
    });
    let mut passwords = MockPasswords::new();
    passwords.expect_verify().returning(move |_, _, _| Ok(verified));
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("random".to_owned()));
    secrets.expect_fingerprint().with(eq(Token("cpt_random".to_owned()))).returning(|_| TokenHash([9; 32]));
    let mut jobs = MockJobQueue::new();
    if noted == SecurityEventKind::PersonalTokenCreated {
        expect_secured(&mut jobs, user(1), SecurityCause::TokenCreated(SessionId::new(5).unwrap()), None);
    }
    let revocations = refreshed(usize::from(noted == SecurityEventKind::PersonalTokenEnded));
    let log = log_of(vec![noted]);
    let doubles =
        Doubles { logins, passwords, secrets, tokens, jobs, revocations, log, ..Doubles::default() };
    let env = doubles.env();
    OwnTokens { executor: Executor::new(env.clone()), env }
}

fn asked() -> TokenRequest {
    TokenRequest {
        name: Line::new("Display").unwrap(),
        scopes: BTreeSet::from([TokenScope::GigsRead]),
        lifetime: TokenDays::new(2).unwrap(),
    }
}

#[test]
fn a_token_is_created_with_the_password_and_stored_by_its_hash() {
    let mut tokens = MockPersonalTokens::new();
    tokens
        .expect_add_token()
        .withf(|token, hash, author| {
            token.session.user == user(1)
                && token.session.expires_at == now().plus(Duration::days(2))
                && *hash == TokenHash([9; 32])
                && author.get() == 1
        })
        .once()
        .returning(|_, _, _| Ok(TokenAddition::Added));
    let own = own_tokens(PasswordCheck::Right, tokens, SecurityEventKind::PersonalTokenCreated);
    let (token, secret) = run(own.create(&context(1), asked(), &Password::presented("right"))).unwrap();
    assert_eq!((token.id().get(), secret.0.as_str()), (5, "cpt_random"));
}

#[test]
fn a_token_is_not_created_with_a_wrong_password() {
    let own = own_tokens(PasswordCheck::Wrong, MockPersonalTokens::new(), SecurityEventKind::LoginFailed);
    let refused = run(own.create(&context(1), asked(), &Password::presented("wrong")));
    assert!(matches!(refused, Err(CommandError::Refused(TokenRequestRefusal::WrongPassword))), "{refused:?}");
}

#[test]
fn the_end_of_a_token_is_recorded_and_known_at_once() {
    let mut tokens = MockPersonalTokens::new();
    tokens
        .expect_end_token()
        .with(eq(user(1)), eq(SessionId::new(5).unwrap()), eq(now()))
        .returning(|_, _, _| Ok(true));
    let own = own_tokens(PasswordCheck::Right, tokens, SecurityEventKind::PersonalTokenEnded);
    run(own.end(&context(1), SessionId::new(5).unwrap())).unwrap();
}
