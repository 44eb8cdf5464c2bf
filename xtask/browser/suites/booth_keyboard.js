// The booth and the guest page with the keyboard alone.

import assert from "node:assert/strict";

import { openGig, queueOf } from "../harness/evening.js";
import { focusOf, isFocused, tabThrough } from "../harness/focus.js";
import { answer, cancel, guestWithMoney, guestWithRequests, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");

// A booth with new requests for these songs, in this order, and an empty list of accepted ones.
async function boothOf(scene, songs) {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { queue_order: "arrival", max_open_per_guest: 10 });
  const mia = await guestWithMoney(service, "Mia");
  const requests = {};
  for (const song of songs) requests[song] = await requestOf(service, mia, dj, song);
  const { page, ...laptop } = await scene.visitor({ base: service.url, width: 1280, scheme: "dark" });
  await logIn(service, laptop, dj);
  await page.goto("/booth");
  await page.getByText(t.connection_live, { exact: true }).waitFor();
  const card = (song) => page.locator(`#request-${requests[song].id}`);
  // Waits until the requests of the gig have these states, in play order.
  const states = (expected) =>
    eventually(`the states are ${JSON.stringify(expected)}`, async () => {
      const queue = await queueOf(service, dj);
      const found = queue.map(({ request }) => `${request.song_title} ${request.status}`);
      return JSON.stringify(found) === JSON.stringify(expected);
    });
  const hasFocus = (song) => eventually(`${song} has the focus`, () => isFocused(card(song)));
  return { service, dj, mia, requests, page, card, states, hasFocus };
}

test("a DJ answers requests with keys alone", async (scene) => {
  const { page, card, states, hasFocus } = await boothOf(scene, ["Blue Monday", "Ceremony", "Elegia"]);
  const press = (key) => page.keyboard.press(key);
  await press("a");
  await press("ArrowDown");
  await hasFocus("Blue Monday");
  await press("ArrowDown");
  await hasFocus("Ceremony");
  await press("ArrowUp");
  await hasFocus("Blue Monday");
  await press("a");
  await hasFocus("Ceremony");
  await states(["Blue Monday accepted", "Ceremony pending", "Elegia pending"]);
  await press("r");
  await card("Ceremony").getByRole("button", { name: `${t.undo_tap} Ceremony`, exact: true }).waitFor();
  await press("u");
  await hasFocus("Ceremony");
  await press("R");
  await hasFocus("Elegia");
  await states(["Blue Monday accepted", "Elegia pending"]);
  await card("Ceremony").waitFor({ state: "detached" });
  await hasFocus("Elegia");
  await press("ArrowDown");
  await hasFocus("Blue Monday");
  await press("p");
  await states(["Elegia pending"]);
});

test("the keys of the booth are listed behind a question mark, and off while a field has the focus", async (scene) => {
  const { page, card, states } = await boothOf(scene, ["Blue Monday"]);
  const list = page.locator("[data-keys] dl");
  assert.equal(await list.isVisible(), false);
  await card("Blue Monday").focus();
  await page.keyboard.press("?");
  await list.waitFor();
  assert.deepEqual(await list.locator("kbd").allInnerTexts(), ["A", "R", "P", "U", "↑", "↓", "?"]);
  await page.keyboard.press("?");
  await list.waitFor({ state: "hidden" });
  await page.getByText(t.gig_settings, { exact: true }).click();
  const message = page.getByLabel(t.gig_message, { exact: true });
  await message.fill("");
  await message.pressSequentially("Rap? up");
  assert.equal(await message.inputValue(), "Rap? up");
  await list.waitFor({ state: "hidden" });
  await card("Blue Monday").focus();
  await page.keyboard.press("Control+a");
  assert.equal(await card("Blue Monday").locator("[data-state]").innerText(), "");
  await states(["Blue Monday pending"]);
});

test("letters act in a card alone", async (scene) => {
  const { page, card, states } = await boothOf(scene, ["Blue Monday"]);
  await card("Blue Monday").focus();
  await page.keyboard.press("r");
  const undo = card("Blue Monday").getByRole("button", { name: `${t.undo_tap} Blue Monday`, exact: true });
  await undo.waitFor();
  const settings = page.getByText(t.gig_settings, { exact: true });
  for (const leave of [() => settings.focus(), () => page.evaluate(() => document.activeElement.blur())]) {
    await leave();
    for (const key of ["u", "?"]) await page.keyboard.press(key);
    assert.ok(await undo.isVisible());
    assert.equal(await page.locator("[data-keys] dl").isVisible(), false);
  }
  await card("Blue Monday").focus();
  await page.keyboard.press("u");
  await undo.waitFor({ state: "detached" });
  await states(["Blue Monday pending"]);
});

test("the focus stays on a card that a live update replaces, moves or removes", async (scene) => {
  const booth = await boothOf(scene, ["Blue Monday", "Ceremony", "Elegia"]);
  const { service, dj, mia, requests, page, card, hasFocus } = booth;
  const before = await card("Blue Monday").elementHandle();
  await card("Blue Monday").focus();
  // Another request for the song changes the card.
  const ben = await guestWithMoney(service, "Ben");
  await requestOf(service, ben, dj, "Blue Monday");
  await card("Blue Monday").getByText("2 requests for this song").waitFor();
  assert.equal(await before.evaluate((element) => element.isConnected), false, "the card was replaced");
  await hasFocus("Blue Monday");
  await answer(service, dj, requests["Blue Monday"], "accepted");
  await page.locator("#accepted-list").locator(`#request-${requests["Blue Monday"].id}`).waitFor();
  await hasFocus("Blue Monday");
  await card("Ceremony").focus();
  await cancel(service, mia, requests.Ceremony);
  await card("Ceremony").waitFor({ state: "detached" });
  await hasFocus("Elegia");
});

test("a button keeps the focus when a live update replaces it, and when its card has changed", async (scene) => {
  const { service, dj, mia, requests, page, card } = await boothOf(scene, ["Blue Monday", "Ceremony"]);
  await page.getByRole("button", { name: t.pause_gig, exact: true }).focus();
  const later = await requestOf(service, mia, dj, "Elegia");
  await page.locator(`#request-${later.id}`).waitFor();
  assert.equal(await focusOf(page), `button ${t.pause_gig}`);
  const accept = card("Ceremony").getByRole("button", { name: `${t.accept_request} Ceremony`, exact: true });
  await accept.focus();
  // Another program of the DJ answers.
  await answer(service, dj, requests.Ceremony, "accepted");
  await card("Ceremony").getByText(t.outdated, { exact: true }).waitFor();
  assert.ok(await isFocused(accept));
});

test("the only request keeps the focus when its DJ accepts it", async (scene) => {
  const { page, states, hasFocus } = await boothOf(scene, ["Blue Monday"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("a");
  await states(["Blue Monday accepted"]);
  await page.locator("#accepted-list li").waitFor();
  await hasFocus("Blue Monday");
  await page.keyboard.press("p");
  await states([]);
});

const NARROW = [
  ["at 320 px", { width: 320 }],
  ["with text of twice the size", { width: 390, textScale: 2 }],
];
for (const [variant, settings] of NARROW) {
  test(`the focus is visible and uncovered on the guest page and in the booth, ${variant}`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const dj = await openGig(service, { max_open_per_guest: 10 });
    const mia = await guestWithRequests(service, dj);
    for (const [user, path, most] of [[mia, `/g/${dj.code}`, 19], [dj, "/booth", 15]]) {
      const visitor = await scene.visitor({ base: service.url, ...settings });
      await logIn(service, visitor, user);
      await visitor.page.goto(path);
      const stops = await tabThrough(visitor.page);
      assert.ok(stops.length >= most, stops.join("\n"));
    }
  });
}
