// A gig with prices that can change, and the form of a request at its page.

import { openGig, queueOf, sendButton } from "./evening.js";
import { Network } from "./network.js";
import { answer, guestWithMoney, logIn, requestOf } from "./queue.js";
import { textsOf } from "./texts.js";
import { eventually } from "./wait.js";

const t = textsOf("en");

// The pattern of an amount in a text.
export const amount = (text) => new RegExp(`${text.replace(".", "\\.")}\\sUSD`);

// A gig at this price, and a phone of a guest with money in the wallet. The test controls its network.
export async function gigAtPrice(scene, { price = 5, script = true, hasMoney = true, ...fields } = {}) {
  const service = await scene.service({ isDurable: false, settings: { TOPUPS__SANDBOX: "page" } });
  const dj = await openGig(service, { popular: price, ...fields });
  const network = await Network.to(scene, service);
  const phone = await scene.phone({ base: network.url, script });
  const guest = await guestWithMoney(service, "Mia");
  if (hasMoney) await logIn(service, phone, guest);
  return { service, network, dj, guest, phone, page: phone.page };
}

// Sets the price as the booth does.
export const setPrice = ({ service, dj }, price) =>
  service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { fee_popular_song: price } });

// Waits until the board of the gig is as the function expects.
export const boardShows = ({ service, dj }, isExpected) =>
  eventually("the board is as expected", async () => isExpected((await service.call("GET", `/boards/${dj.code}`)).board));

// Sets the price, and waits until new pages have it.
export async function setShownPrice(scenery, price) {
  await setPrice(scenery, price);
  await boardShows(scenery, (board) => board.fee_popular_song === price);
}

// Another guest's request for the song, which the DJ has played. The board shows it.
export async function havePlayed(scenery, title = "Blue Monday") {
  const { service, dj } = scenery;
  const request = await requestOf(service, await guestWithMoney(service, "Ben"), dj, title);
  for (const status of ["accepted", "played"]) await answer(service, dj, request, status);
  await boardShows(scenery, ({ last_played }) => last_played?.song_title === title);
}

// Fills the form with this song, and with a name where it asks for one.
export async function fill(page, title = "Blue Monday") {
  for (const [label, value] of [[t.song_title, title], [t.artist_name, "New Order"], [t.your_name, "Ada"]]) {
    const field = page.getByLabel(label, { exact: true });
    if ((await field.count()) > 0) await field.fill(value);
  }
}

// Fills the form with this song, and sends it.
export async function send(page, title) {
  await fill(page, title);
  await sendButton(page).click();
}

// The fees of the requests for the song that wait, in the order of the queue.
export async function fees({ service, dj }, title) {
  const queue = await queueOf(service, dj);
  return queue.filter(({ request }) => request.song_title === title).map(({ request }) => request.fee);
}
