// The tour of README.md through the generated TypeScript client. The first argument is the service's URL.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.js";

const url = process.argv[2];
assert.ok(url, "usage: node tour.js URL");

// Addresses and idempotency keys of this run.
const run = randomUUID();

/** A client that sends this access token, if there is one. */
function connect(token?: string) {
  const client = createClient<paths>({ baseUrl: url! });
  const authorize: Middleware = {
    onRequest({ request }) {
      if (token !== undefined) request.headers.set("Authorization", `Bearer ${token}`);
    },
  };
  client.use(authorize);
  return client;
}

/** Compares values; the compiler refuses an expected value that the schema excludes. */
function equal<Value>(actual: Value, expected: NoInfer<Value>) {
  assert.deepEqual(actual, expected);
}

/** The body of a success with this status; any other response fails the tour. */
function success<Body>(result: { data?: Body; error?: unknown; response: Response }, status = 200): Body {
  const { data, error, response } = result;
  assert.equal(response.status, status, `${response.url}: ${JSON.stringify(error)}`);
  assert.ok(data !== undefined, `${response.url}: no body`);
  return data;
}

/** The error body of a response with this status; any other response fails the tour. */
function failure<Body>(result: { error?: Body; response: Response }, status: number): Body {
  assert.equal(result.response.status, status, result.response.url);
  assert.ok(result.error !== undefined, `${result.response.url}: no error body`);
  return result.error;
}

// A DJ and a guest register.
const anonymous = connect();
const email = `dee-${run}@example.com`;
const password = "correct horse";
const djSession = success(
  await anonymous.POST("/api/v1/auth/register", {
    body: { name: "Dee Jay", email, password, is_dj: true },
  }),
  201,
).data;
equal(djSession.user.is_dj, true);
equal(djSession.user.email, email);
const dj = connect(djSession.access_token);

const guestSession = success(
  await anonymous.POST("/api/v1/auth/register", {
    body: { name: "Ada", email: `ada-${run}@example.com`, password: "battery staple" },
  }),
  201,
).data;
equal(guestSession.user.is_dj, false);
const guest = connect(guestSession.access_token);

// An invalid body is refused with a message for each field.
const invalid = failure(
  await anonymous.POST("/api/v1/auth/register", { body: { name: "", email: "nowhere", password: "short" } }),
  422,
);
equal(invalid.code, "validation_failed");
equal(Object.keys(invalid.errors ?? {}).sort(), ["email", "name", "password"]);

// The DJ sets prices and goes online.
const profile = success(
  await dj.PATCH("/api/v1/user/personal-info", {
    body: { online: 1, fee_upcoming_artist: 5, fee_popular_song: 12.5 },
  }),
).data.user;
equal(profile.online, 1);
equal(profile.fee_popular_song, 12.5);
const online = success(await guest.GET("/api/v1/djs/{id}", { params: { path: { id: profile.id } } }));
equal(online.data.dj.fee_popular_song, 12.5);

// The guest pays in and requests a song: of 40.00, 12.50 are held.
const topup = success(await guest.POST("/api/v1/wallet/topups", { body: { amount: 40 } }), 201).data.topup;
equal(topup.amount, 40);
equal(topup.status, "confirmed");
const song: components["schemas"]["NewMusicRequest"] = {
  dj_id: profile.id,
  song_title: "Blue Monday",
  artist_name: "New Order",
  artist_type: "popular",
  music_url: "https://example.com/blue-monday",
};
const request = success(await guest.POST("/api/v1/music/requests", { body: song }), 201).data;
equal(request.status, "pending");
equal(request.fee, 12.5);
const wallet = success(await guest.GET("/api/v1/wallet")).data.wallet;
equal([wallet.available, wallet.held], [27.5, 12.5]);

// The DJ accepts and plays it: the DJ now has 12.50.
const path = { id: request.id };
for (const status of ["accepted", "played"] as const) {
  const answered = success(
    await dj.PATCH("/api/v1/music/requests-update/{id}", { params: { path }, body: { status } }),
  );
  equal(answered.data.status, status);
}
const earned = success(await dj.GET("/api/v1/user/personal-info")).data.user;
equal([earned.wallet_balance, earned.played], [12.5, 1]);

// A played request cannot be cancelled any more.
const conflict = failure(await guest.POST("/api/v1/music/requests/{id}/cancel", { params: { path } }), 409);
equal([conflict.code, conflict.current], ["invalid_transition", "played"]);

// The DJ withdraws 10, and sends it twice: the second answer is the first one, replayed.
const withdrawals: number[] = [];
for (const replayed of [null, "true"]) {
  const result = await dj.POST("/api/v1/withdrawal/crypto", {
    params: { header: { "Idempotency-Key": `payday-${run}` } },
    body: { amount: 10, wallet_address: "bc1qexample", currency: "BTC", network: "bitcoin" },
  });
  const { new_balance, withdrawal_request } = success(result, 201).data;
  equal(result.response.headers.get("Idempotency-Replayed"), replayed);
  equal(new_balance, 2.5);
  withdrawals.push(withdrawal_request.id);
}
equal(withdrawals[0], withdrawals[1]);

// The statement of the DJ, newest first: 10.00 held, 12.50 earned.
const query = { page: 1, per_page: 10 };
const entries = success(await dj.GET("/api/v1/wallet/entries", { params: { query } })).data.data;
equal(entries.map(({ kind, amount }) => [kind, amount]), [["hold", -10], ["earning", 12.5]]);

// The DJ logs in on a phone too, sees both sessions, refreshes one and logs out everywhere.
const phone = success(await anonymous.POST("/api/v1/auth/login", { body: { email, password } })).data;
equal(phone.user.id, profile.id);
const sessions = success(await dj.GET("/api/v1/auth/sessions")).data.data;
equal(sessions.length, 2);
const { refresh_token } = phone;
success(await anonymous.POST("/api/v1/auth/refresh", { body: { refresh_token } }));
success(await dj.POST("/api/v1/auth/logout-everywhere", { body: {} }));
const loggedOut = failure(await dj.GET("/api/v1/wallet"), 401);
equal(loggedOut.code, "session_ended");

console.log("the tour through the TypeScript client is over");
