// Where a song stands in the queue, and whether it can still be played.

import assert from "node:assert/strict";

import { guestWithMoney, requestOf } from "../harness/queue.js";
import { boardShows, gigAtPrice, send } from "../harness/request_form.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";

const t = textsOf("en");

// Guests request this number of songs at the price, 30 each.
async function haveQueue(scenery, length) {
  const { service, dj } = scenery;
  for (let made = 0; made < length; made += 30) {
    const guest = await guestWithMoney(service, "Ben", 500);
    const songs = Array.from({ length: Math.min(30, length - made) }, (_, number) => `Song ${made + number}`);
    await Promise.all(songs.map((song) => requestOf(service, guest, dj, song)));
  }
  await boardShows(scenery, ({ queue_length }) => queue_length === length);
}

// A gig in which earlier requests come first.
const inOrderOfArrival = { max_open_per_guest: 30, queue_order: "arrival" };

test("a guest at place 7 reads three numbers that add up to 6", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { service, dj, guest, page } = scenery;
  const others = await Promise.all(["Ben", "Eva", "Tom"].map((name) => guestWithMoney(service, name)));
  for (const [place, requester] of [...others, guest].entries()) await requestOf(service, requester, dj, `Song ${place}`);
  await requestOf(service, others[0], dj, "Regret", { fee: 15 });
  await requestOf(service, others[1], dj, "Ceremony");
  await requestOf(service, guest, dj, "Temptation");
  await boardShows(scenery, ({ queue_length }) => queue_length === 7);
  await page.goto(`/g/${dj.code}`);
  const card = page.locator("#guest-live .ticket", { has: page.getByRole("heading", { name: "Temptation" }) });
  assert.match(await card.innerText(), /about 7th/);
  const before = await card.getByText(/requested earlier/).first().innerText();
  assert.deepEqual(before.match(/\d+/g).map(Number), [4, 1, 1], before);
  await card.getByText(t.comes_first).click();
  await card.getByText(/^In each round, every guest has one song\./).waitFor();
});

test("a request with a wait of three quarters of an hour has no warning, and the time until the DJ answers", async (scene) => {
  const scenery = await gigAtPrice(scene, inOrderOfArrival);
  const { dj, page } = scenery;
  await haveQueue(scenery, 11);
  await page.goto(`/g/${dj.code}`);
  await send(page, "Regret");
  const card = page.locator("#guest-live .ticket");
  await card.getByText("48 min").waitFor();
  assert.match(await card.innerText(), new RegExp(`${t.answered_until} \\d\\d:\\d\\d`));
  assert.equal(await page.getByText(t.at_risk).count(), 0);
});

test("a wait of four hours is warned about before the payment", async (scene) => {
  const scenery = await gigAtPrice(scene, { ...inOrderOfArrival, hasMoney: false });
  const { dj, page } = scenery;
  await haveQueue(scenery, 60);
  await page.goto(`/g/${dj.code}`);
  await page.locator("#request").getByText("about 61st, 244 min").waitFor();
  await page.locator("#request").getByText(t.at_risk).waitFor();
});
