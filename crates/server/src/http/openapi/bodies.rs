//! The bodies that calls send, as the document describes them; they are read by [`crate::http::wire::fields`].

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::http::wire::names;

/// What a provider knows a top-up or a withdrawal by: a UUID or a decimal id.
pub struct ProviderReference;

impl PartialSchema for ProviderReference {
    fn schema() -> RefOr<Schema> {
        let form = "^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[1-9][0-9]{0,17})$";
        RefOr::T(ObjectBuilder::new().schema_type(Type::String).pattern(Some(form)).build().into())
    }
}

impl ToSchema for ProviderReference {}

/// Who registers.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "DJ Ada", "email": "ada@example.com", "password": "correct horse", "is_dj": true
}))]
pub struct Registration {
    /// What they are called.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// Where they get mail; unique whatever its letter case.
    #[schema(format = "email", max_length = 255)]
    pub email: String,
    /// The password that they chose.
    #[schema(format = Password, min_length = 8, max_length = 255)]
    pub password: String,
    /// The phone number, in the form of E.164.
    #[schema(pattern = "^\\+[1-9][0-9]{6,14}$", example = "+4930123456")]
    pub phone: Option<String>,
    /// Whether they are a DJ; no when left out.
    pub is_dj: Option<bool>,
}

/// Who logs in.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ada@example.com", "password": "correct horse"}))]
pub struct Login {
    /// The address that they registered with, in any letter case.
    #[schema(min_length = 1)]
    pub email: String,
    /// Their password.
    #[schema(format = Password, min_length = 1)]
    pub password: String,
}

/// Who wants to stay logged in, or to end that.
#[derive(ToSchema)]
#[schema(example = json!({"refresh_token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c"}))]
pub struct RefreshToken {
    /// The newest refresh token.
    #[schema(min_length = 1)]
    pub refresh_token: String,
}

/// Another password.
#[derive(ToSchema)]
#[schema(example = json!({"current_password": "correct horse", "password": "battery staple"}))]
pub struct NewPassword {
    /// The present password.
    #[schema(format = Password, min_length = 1)]
    pub current_password: String,
    /// The new one.
    #[schema(format = Password, min_length = 8, max_length = 255)]
    pub password: String,
}

/// Whose password was forgotten.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ada@example.com"}))]
pub struct ForgottenPassword {
    /// The address that they registered with, in any letter case.
    #[schema(format = "email", max_length = 255)]
    pub email: String,
}

/// A password in place of a forgotten one.
#[derive(ToSchema)]
#[schema(example = json!({"token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c", "password": "battery staple"}))]
pub struct ResetPassword {
    /// The token that was sent.
    #[schema(min_length = 1)]
    pub token: String,
    /// The new password.
    #[schema(format = Password, min_length = 8, max_length = 255)]
    pub password: String,
}

/// That somebody can read what is sent to an address.
#[derive(ToSchema)]
#[schema(example = json!({"code": "042137"}))]
pub struct VerificationCode {
    /// The code that was sent.
    #[schema(min_length = 1)]
    pub code: String,
}

/// A change of one's own profile. What is left out stays; null clears what can be null.
#[derive(ToSchema)]
#[schema(example = json!({"city": "Berlin", "online": 1, "fee_popular_song": 10.00}))]
pub struct PersonalInfo {
    /// What they are called.
    #[schema(min_length = 1, max_length = 255, nullable = false)]
    pub name: Option<String>,
    /// The phone number, in the form of E.164; a new number is unverified. The stored number can be sent again,
    /// whatever its form.
    #[schema(pattern = "^\\+[1-9][0-9]{6,14}$", example = "+4930123456")]
    pub phone: Option<String>,
    /// Their city.
    #[schema(max_length = 255)]
    pub city: Option<String>,
    /// Their state.
    #[schema(max_length = 255)]
    pub state: Option<String>,
    /// Their country.
    #[schema(max_length = 255)]
    pub country: Option<String>,
    /// Degrees north; set together with `longitude`.
    #[schema(minimum = -90, maximum = 90)]
    pub latitude: Option<f64>,
    /// Degrees east; set together with `latitude`.
    #[schema(minimum = -180, maximum = 180)]
    pub longitude: Option<f64>,
    /// How far around that they reach, in kilometres.
    #[schema(minimum = 0, maximum = 20038)]
    pub radius: Option<f64>,
    /// 1 to take requests, 0 to stop; DJs only. `true` and `false` are taken too.
    #[schema(minimum = 0, maximum = 1, nullable = false)]
    pub online: Option<u8>,
    /// The price of a song of an upcoming artist; DJs only.
    #[schema(format = "decimal", minimum = 0, maximum = 1_000_000_000_000_i64, nullable = false)]
    pub fee_upcoming_artist: Option<f64>,
    /// The price of a popular song; DJs only.
    #[schema(format = "decimal", minimum = 0, maximum = 1_000_000_000_000_i64, nullable = false)]
    pub fee_popular_song: Option<f64>,
}

/// A song that a guest asks for.
#[derive(ToSchema)]
#[schema(example = json!({
    "dj_id": 7, "song_title": "Blue Monday", "artist_name": "New Order", "artist_type": "popular",
    "music_url": "https://example.com/blue-monday"
}))]
pub struct NewMusicRequest {
    /// Who is asked: a DJ who is online, and not the caller.
    #[schema(minimum = 1)]
    pub dj_id: i64,
    /// The song.
    #[schema(min_length = 1, max_length = 255)]
    pub song_title: String,
    /// Who made it.
    #[schema(min_length = 1, max_length = 255)]
    pub artist_name: String,
    /// In any letter case; `upcoming_artist` and `popular_song` are taken too.
    #[schema(value_type = names::ArtistType)]
    pub artist_type: String,
    /// Where it can be heard: http or https, never fetched.
    #[schema(format = "uri", max_length = 2048)]
    pub music_url: String,
    /// What the guest offers: the DJ's list price, which it is when left out, or more.
    #[schema(format = "decimal", minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub fee: Option<f64>,
}

/// What the DJ says to a request.
#[derive(ToSchema)]
#[schema(example = json!({"status": "accepted"}))]
pub struct DjAnswer {
    /// Where the request goes.
    #[schema(value_type = names::Verdict)]
    pub status: String,
}

/// Money that is paid in.
#[derive(ToSchema)]
#[schema(example = json!({"amount": 50.00}))]
pub struct NewTopup {
    /// How much, in the wallet's currency and with no more decimals than it has.
    #[schema(format = "decimal", exclusive_minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub amount: f64,
}

/// What is to be paid out.
#[derive(ToSchema)]
#[schema(example = json!({
    "amount": 25.00, "wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "currency": "BTC",
    "network": "bitcoin"
}))]
pub struct NewWithdrawal {
    /// How much, in the wallet's currency and with no more decimals than it has.
    #[schema(format = "decimal", minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub amount: f64,
    /// Where it is sent. Under the strict address policy an address of the network, and answered in its canonical form.
    #[schema(min_length = 1, max_length = 255)]
    pub wallet_address: String,
    /// What is paid out. Under the strict address policy one of the withdrawal options, in any letter case.
    #[schema(min_length = 1, max_length = 255)]
    pub currency: String,
    /// The network that it is paid out on. Under the strict address policy one of the currency's, in any letter case.
    #[schema(min_length = 1, max_length = 255)]
    pub network: String,
}

/// What a provider says of a top-up.
#[derive(ToSchema)]
#[schema(example = json!({"type": "topup.confirmed", "data": {
    "reference": "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10", "id": 3, "amount": 25.00, "currency": "USD"
}}))]
pub struct TopupEvent {
    /// What it says; another type is acknowledged and ignored.
    #[schema(value_type = names::TopupEventType)]
    pub r#type: String,
    /// What it is about.
    pub data: TopupEventData,
}

/// The top-up that a provider speaks of.
#[derive(ToSchema)]
pub struct TopupEventData {
    /// The reference that the order had. Of a top-up that an earlier version opened it is the decimal id, and `id` alone
    /// is enough.
    #[schema(value_type = ProviderReference)]
    pub reference: String,
    /// Its id. One that does not belong to the reference settles nothing.
    #[schema(minimum = 1)]
    pub id: Option<i64>,
    /// The amount that was paid, or taken back. Required of `topup.confirmed`, unless an earlier version opened the
    /// top-up, and of `topup.reversed`. An amount other than the top-up's settles nothing.
    #[schema(value_type = Option<f64>, format = "decimal")]
    pub amount: Option<f64>,
    /// The currency of the payment, in any letter case. Required of `topup.confirmed`, unless an earlier version
    /// opened the top-up. A currency other than the wallet's settles nothing.
    pub currency: Option<String>,
}

/// What a provider says of a payout.
#[derive(ToSchema)]
#[schema(example = json!({"type": "payout.broadcast", "data": {
    "reference": "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f", "id": 5, "txid": "4a5e1e4b"
}}))]
pub struct PayoutEvent {
    /// What it says; another type is acknowledged and ignored. `payout.failed` means that nothing was sent and nothing ever
    /// will be. It is a review where the order was sent more than once.
    #[schema(value_type = names::PayoutEventType)]
    pub r#type: String,
    /// What it is about.
    pub data: PayoutEventData,
}

/// The payout that a provider speaks of.
#[derive(ToSchema)]
pub struct PayoutEventData {
    /// The reference that the order had. Of a withdrawal that an earlier version opened it is the decimal id, and `id`
    /// alone is enough.
    #[schema(value_type = ProviderReference)]
    pub reference: String,
    /// The withdrawal's id. One that does not belong to the reference settles nothing.
    #[schema(minimum = 1)]
    pub id: Option<i64>,
    /// The transaction on the network; required unless the payout failed. A transaction other than the known one
    /// settles nothing.
    #[schema(min_length = 1, max_length = 255)]
    pub txid: Option<String>,
    /// The reason of a refusal, of which 255 bytes are kept. A value that is not a string is left out.
    pub reason: Option<String>,
}

/// Why an operator does something.
#[derive(ToSchema)]
#[schema(example = json!({"reason": "Checked with the owner."}))]
pub struct Reason {
    /// Why; it is kept with who did it and when.
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// That a withdrawal was sent.
#[derive(ToSchema)]
#[schema(example = json!({"txid": "4a5e1e4b", "reason": "Sent by hand."}))]
pub struct Sent {
    /// The transaction on the network.
    #[schema(min_length = 1, max_length = 255)]
    pub txid: String,
    /// Why; it is kept with who did it and when.
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// That a withdrawal arrived.
#[derive(ToSchema)]
#[schema(example = json!({"txid": "4a5e1e4b", "reason": "Six confirmations."}))]
pub struct Completed {
    /// The transaction on the network; the known one when left out, required where none is known.
    #[schema(min_length = 1, max_length = 255)]
    pub txid: Option<String>,
    /// Why; it is kept with who did it and when.
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// Which role somebody gets.
#[derive(ToSchema)]
#[schema(example = json!({"role": "auditor", "reason": "Checks the books from today."}))]
pub struct NewRole {
    /// The role: a member has none beyond their own affairs.
    #[schema(value_type = names::Role)]
    pub role: String,
    /// Why; it is kept with who did it and when.
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// Who wants their personal data erased.
#[derive(ToSchema)]
#[schema(example = json!({"password": "correct horse"}))]
pub struct Erasure {
    /// Their password.
    #[schema(format = Password, min_length = 1)]
    pub password: String,
}

/// A correction of what a person has available.
#[derive(ToSchema)]
#[schema(example = json!({"user_id": 8, "amount": -2.50, "reason": "A song was charged twice."}))]
pub struct NewAdjustment {
    /// Whose balance.
    #[schema(minimum = 1)]
    pub user_id: i64,
    /// What is added, or taken where it is negative; not 0, and with no more decimals than the currency has.
    #[schema(format = "decimal", minimum = -1_000_000_000_000_i64, maximum = 1_000_000_000_000_i64)]
    pub amount: f64,
    /// Why; it is kept with who did it and when.
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// Which page of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The page's number, from 1; anything else counts as 1.
    #[param(minimum = 1, example = 1)]
    pub page: Option<i64>,
    /// The most rows of the page, from 1 to 100; 15 when left out.
    #[param(minimum = 1, maximum = 100, example = 15)]
    pub per_page: Option<u32>,
}
