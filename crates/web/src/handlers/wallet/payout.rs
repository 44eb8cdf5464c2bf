//! The forms of withdrawals: check, confirmation, cancellation.

use actix_web::http::StatusCode;
use cuepoint_domain::address::{DestinationRefusal, OptionsTable};
use cuepoint_domain::application::CommandError;
use cuepoint_domain::application::commands::{
    CancelWithdrawal, MoveWithdrawalRefusal, OpenWithdrawal, OpenWithdrawalRefusal,
};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::money::Amount;
use cuepoint_domain::text::{Line, TextError};
use cuepoint_domain::withdrawal::{NewWithdrawal, OpenRefusal, WithdrawalAmount};
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::texts::Text;
use cuepoint_pages::wallet::{ConfirmPayoutPage, PayoutForm};

use super::page::{self, Refused};
use crate::call::{FormKey, PageCall};
use crate::failure::PageFailure;
use crate::form::Form;
use crate::recent_password::{self, Confirmed};
use crate::response::PageResponse;
use crate::router::INVALID;

/// The fields that a withdrawal consists of.
const FIELDS: &[&str] = &["amount", "currency", "network", "wallet_address"];
/// The fields of the confirmation, which the page that asks for the password keeps.
const KEPT: &[&str] = &["key", "amount", "currency", "network", "wallet_address"];

/// The fields of a withdrawal, as they were sent, with what is wrong with them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::handlers) struct PayoutFields {
    amount: FieldState,
    currency: FieldState,
    network: FieldState,
    wallet_address: FieldState,
}

impl PayoutFields {
    /// The form with these fields.
    pub(super) fn form(self, options: &OptionsTable) -> PayoutForm<'_> {
        let Self { amount, currency, network, wallet_address } = self;
        PayoutForm { amount, currency, network, wallet_address, options }
    }

    /// The fields of a form without errors. With a choice of options, the currency field shows the chosen one.
    fn sent(form: &Form) -> Self {
        let field = |name| FieldState::with(form.text(name));
        let chosen = if form.has("payout") { "payout" } else { "currency" };
        Self {
            amount: field("amount"),
            currency: field(chosen),
            network: field("network"),
            wallet_address: field("wallet_address"),
        }
    }

    /// The withdrawal, or the fields with their errors.
    fn read(form: &Form, frame: &Frame<'_>) -> Result<NewWithdrawal, Box<Self>> {
        let (currency, network) = match form.text("payout").split_once('/') {
            Some(chosen) => chosen,
            None => (form.text("currency"), form.text("network")),
        };
        let amount = amount_of(form, frame);
        let (currency, network) = (Line::new(currency), Line::new(network));
        match (amount, currency, network, Line::new(form.text("wallet_address"))) {
            (Ok(amount), Ok(currency), Ok(network), Ok(wallet_address)) => {
                Ok(NewWithdrawal { amount, wallet_address, currency, network })
            }
            (amount, currency, network, wallet_address) => {
                let mut fields = Self::sent(form);
                let error = |error: Option<TextError>| error.map(|error| frame.refused_text(error));
                fields.amount.error = amount.err();
                fields.currency.error = error(currency.err());
                fields.network.error = error(network.err());
                fields.wallet_address.error = error(wallet_address.err());
                Err(Box::new(fields))
            }
        }
    }

    /// The fields with the error of a refusal; `None` for a refusal that the wallet itself shows.
    fn refused(form: &Form, refusal: &OpenWithdrawalRefusal, frame: &Frame<'_>) -> Option<Self> {
        let mut fields = Self::sent(form);
        let (field, error) = match refusal {
            OpenWithdrawalRefusal::Rule(OpenRefusal::Destination(refusal)) => {
                let field = match refusal {
                    DestinationRefusal::Network if !form.has("payout") => &mut fields.network,
                    DestinationRefusal::Currency | DestinationRefusal::Network => &mut fields.currency,
                    DestinationRefusal::Address(_) => &mut fields.wallet_address,
                };
                (field, frame.refused_destination(*refusal))
            }
            OpenWithdrawalRefusal::Rule(OpenRefusal::Limit(limit)) => {
                (&mut fields.amount, frame.refused_withdrawal(*limit))
            }
            OpenWithdrawalRefusal::InsufficientFunds => (&mut fields.amount, frame.t.not_enough_money()),
            OpenWithdrawalRefusal::WalletOwes(_) | OpenWithdrawalRefusal::EmailUnverified => return None,
        };
        field.error = Some(error);
        Some(fields)
    }
}

fn amount_of(form: &Form, frame: &Frame<'_>) -> Result<WithdrawalAmount, Text> {
    let currency = &frame.site.currency;
    let money = currency.parse_typed(form.text("amount")).map_err(|error| frame.refused_money(error))?;
    let amount = Amount::new(money).and_then(|amount| WithdrawalAmount::new(amount, currency));
    amount.ok_or_else(|| frame.t.at_least(&frame.amount(WithdrawalAmount::minimum(currency))))
}

/// `POST /wallet/payout`: the withdrawal is shown once more. Nothing changes.
pub(super) async fn check(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let new = match PayoutFields::read(&call.form, &frame) {
        Ok(new) => new,
        Err(fields) => return again(&call, &principal, Some(*fields)).await,
    };
    let checked = match call.use_cases().withdrawals.preview(&principal, new).await {
        Ok(checked) => checked,
        Err(error) => return refused(&call, &principal, error).await,
    };
    let NewWithdrawal { amount, wallet_address, currency, network } = &checked;
    let key = call.new_key();
    let page = ConfirmPayoutPage {
        frame: &frame,
        key: &key,
        amount: amount.get(),
        currency,
        network,
        wallet_address,
    };
    Ok(call.html(StatusCode::OK, page.render()))
}

/// `POST /wallet/payout/confirm`: the withdrawal, once for each key.
pub(super) async fn open(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let new = match PayoutFields::read(&call.form, &call.frame(None)) {
        Ok(new) => new,
        Err(fields) => return again(&call, &principal, Some(*fields)).await,
    };
    let repeated = match recent_password::ensure(&call, &principal, KEPT).await? {
        Confirmed::Recent(repeated) => repeated,
        Confirmed::Asked(page) => return Ok(page),
    };
    let what = call.form.only(FIELDS).encode();
    let answer = match call.run(&principal, Some(&key), OpenWithdrawal, new, &what).await {
        Ok(done) => PageResponse::see(&path_of(done.value.withdrawal.id)),
        Err(error) => refused(&call, &principal, error).await?,
    };
    Ok(repeated.kept_by(answer))
}

/// `POST /withdrawals/{id}/cancel`.
pub(super) async fn cancel(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (key, id) = (FormKey::of(&call.form)?, call.id(WithdrawalId::new)?);
    match call.run(&principal, Some(&key), CancelWithdrawal { id }, (), &id.to_string()).await {
        Ok(_) => Ok(PageResponse::see(&path_of(id))),
        Err(CommandError::Refused(MoveWithdrawalRefusal::InvalidTransition(transition))) => {
            Err(transition.into())
        }
        Err(CommandError::Refused(_)) => Err(PageFailure::NotAllowed),
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => Err(failure.into()),
    }
}

fn path_of(id: WithdrawalId) -> String {
    format!("/wallet#withdrawal-{id}")
}

async fn refused(
    call: &PageCall,
    principal: &Principal,
    error: CommandError<OpenWithdrawalRefusal>,
) -> Result<PageResponse, PageFailure> {
    match error {
        CommandError::Refused(refusal) => {
            again(call, principal, PayoutFields::refused(&call.form, &refusal, &call.frame(None))).await
        }
        CommandError::Input(never) => match never {},
        CommandError::Failed(failure) => Err(failure.into()),
    }
}

/// The wallet with what was sent, and what is wrong.
async fn again(
    call: &PageCall,
    principal: &Principal,
    fields: Option<PayoutFields>,
) -> Result<PageResponse, PageFailure> {
    let payout = fields.unwrap_or_else(|| PayoutFields::sent(&call.form));
    page::render(call, principal, INVALID, Refused { payout, ..Refused::default() }).await
}
