// A DJ's gig, set up by the API, and the form of a request, filled in by a guest.

import { textsOf } from "./texts.js";

const PASSWORD = "only for this run";

let numberOfUsers = 0;

// Registers a user with a name and a password, and returns `{ id, email, password, token }`.
export async function register(service, name, { isDj = false } = {}) {
  numberOfUsers += 1;
  const email = `user-${numberOfUsers}@example.com`;
  const body = { name, email, password: PASSWORD, is_dj: isDj };
  const { user, access_token: token } = await service.call("POST", "/auth/register", { body });
  return { id: user.id, email, password: PASSWORD, token };
}

// Registers a DJ and opens a gig with these fields, such as prices. Returns the DJ with `gig` and `code`.
export async function openGig(service, { name = "DJ Kranich", popular = 12.5, upcoming = 5, ...fields } = {}) {
  const dj = await register(service, name, { isDj: true });
  const prices = { fee_popular_song: popular, fee_upcoming_artist: upcoming };
  const body = { title: "Friday Night Vinyl", venue: "Kranich Bar", ...prices, ...fields };
  const { gig } = await service.call("POST", "/gigs", { token: dj.token, body });
  return { ...dj, gig, code: gig.code };
}

// The open requests of the DJ's gig in their order, as the DJ reads them.
export async function queueOf(service, dj) {
  const { queue } = await service.call("GET", `/gigs/${dj.gig.id}/queue`, { token: dj.token });
  return queue;
}

// The button that sends the form of a request. It names the fee.
export function sendButton(page) {
  return page.locator("#request button.wide");
}

// Fills the form of a request with one interaction for each field, and sends it. A guest with a name sends none.
export async function requestSong(phone, code, { title, artist, name }) {
  const t = textsOf(phone.language);
  await phone.page.goto(`/g/${code}`);
  await phone.page.getByLabel(t.song_title, { exact: true }).fill(title);
  await phone.page.getByLabel(t.artist_name, { exact: true }).fill(artist);
  if (name) await phone.page.getByLabel(t.your_name, { exact: true }).fill(name);
  await sendButton(phone.page).click();
}
