// Requests of guests in a DJ's gig, and sessions of browsers, made without pages.

import assert from "node:assert/strict";

import { register } from "./evening.js";

// Sends a form as a page of the service would, and returns the answer.
export function sendForm(service, path, fields) {
  const headers = { Origin: service.url };
  const body = new URLSearchParams(fields);
  return fetch(`${service.url}${path}`, { method: "POST", headers, body, redirect: "manual" });
}

// Registers a guest with money in the wallet. The page of the sandbox confirms the payment, if there is one.
export async function guestWithMoney(service, name, amount = 100) {
  const guest = await register(service, name);
  const { topup } = await service.call("POST", "/wallet/topups", { token: guest.token, body: { amount } });
  if (topup.payment_url) await sendForm(service, new URL(topup.payment_url).pathname, { outcome: "pay" });
  return guest;
}

// Requests a song, and returns the request.
export function requestOf(service, guest, dj, song_title, { artist = "New Order", ...fields } = {}) {
  const body = { dj_id: dj.id, song_title, artist_name: artist, artist_type: "popular", ...fields };
  return service.call("POST", "/music/requests", { token: guest.token, body });
}

// Answers a request as its DJ: `accepted`, `rejected` or `played`.
export function answer(service, dj, request, status) {
  return service.call("PATCH", `/music/requests-update/${request.id}`, { token: dj.token, body: { status } });
}

// Cancels a request as its guest.
export function cancel(service, guest, request) {
  return service.call("POST", `/music/requests/${request.id}/cancel`, { token: guest.token });
}

// A guest with a request in each state: waiting, accepted, played and returned.
export async function guestWithRequests(service, dj, { name = "Mia", titles = [], ...fields } = {}) {
  const guest = await guestWithMoney(service, name);
  const made = [];
  for (const [place, title] of ["Age of Consent", "Blue Monday", "Ceremony", "Dream Attack"].entries()) {
    made.push(await requestOf(service, guest, dj, titles[place] ?? title, fields));
  }
  const [waiting, accepted, played, returned] = made;
  for (const request of [accepted, played]) await answer(service, dj, request, "accepted");
  await answer(service, dj, played, "played");
  await answer(service, dj, returned, "rejected");
  return { ...guest, waiting, accepted, played, returned };
}

// Begins a session of this user without the page of the login.
export async function logIn(service, { context }, { email, password }) {
  const settings = { form: { email, password }, headers: { Origin: service.url }, maxRedirects: 0 };
  const answer = await context.request.post("/login", settings);
  assert.equal(answer.status(), 303, "the login");
}
