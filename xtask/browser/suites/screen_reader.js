// What blind guests and DJs read, and what is announced to them.

import assert from "node:assert/strict";

import { openGig, sendButton } from "../harness/evening.js";
import { isFocused } from "../harness/focus.js";
import { answer, guestWithMoney, guestWithRequests, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { controlsOf, hearing, outlineOf, readingOrder, unclearControls } from "../harness/screen_reader.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");

// Waits until this is announced, in its order, and fails if anything else is.
async function hears(heard, expected) {
  const all = [];
  await eventually(`${JSON.stringify(expected)} is announced`, async () => {
    all.push(...(await heard()));
    return all.length >= expected.length;
  }).catch((error) => {
    error.message += `\n  announced: ${JSON.stringify(all)}`;
    throw error;
  });
  assert.deepEqual(all, expected);
}

test("a guest page has one main heading, ordered headings, and buttons that name their song", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { max_open_per_guest: 10 });
  const mia = await guestWithRequests(service, dj);
  await requestOf(service, mia, dj, "Elegia");
  const next = await requestOf(service, mia, dj, "Fine Time");
  await answer(service, dj, next, "accepted");
  const phone = await scene.phone({ base: service.url });
  await logIn(service, phone, mia);
  await phone.page.goto(`/g/${dj.code}`);
  const nodes = await readingOrder(phone.page);
  assert.deepEqual(outlineOf(nodes), [
    "banner",
    `navigation: ${t.navigation}`,
    "main",
    "1: DJ Kranich",
    `region: ${t.your_requests}`,
    `2: ${t.your_requests}`,
    "3: Fine Time",
    "3: Elegia",
    "3: Dream Attack",
    "3: Ceremony",
    "3: Blue Monday",
    "3: Age of Consent",
    `region: ${t.up_next}`,
    `2: ${t.up_next}`,
    `2: ${t.request_a_song}`,
  ]);
  const controls = controlsOf(nodes);
  assert.deepEqual(unclearControls(nodes), []);
  for (const expected of [
    `button: ${t.cancel_request} Elegia`,
    `button: ${t.cancel_request} Age of Consent`,
    `button: 5 stars (${t.how_was_it} Ceremony)`,
    `DisclosureTriangle: ${t.tip_the_dj}`,
    `combobox: ${t.song_title}`,
    `combobox: ${t.artist_name}`,
    "button: Request for 12.50\u00a0USD",
  ]) {
    assert.ok(controls.includes(expected), `${expected} is missing:\n${controls.join("\n")}`);
  }
  const meToo = controls.filter((control) => control.startsWith(`button: ${t.me_too}`));
  assert.deepEqual(meToo, [`button: ${t.me_too} Blue Monday`, `button: ${t.me_too} Fine Time`]);
  // A higher offer of a new guest comes before another guest's song.
  await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Regret");
  const other = await scene.phone({ base: service.url });
  // Boards may be a second old.
  const offers = await eventually("the queue has Ben's song", async () => {
    await other.page.goto(`/g/${dj.code}`);
    const controls = controlsOf(await readingOrder(other.page));
    const found = controls.filter((control) => control.endsWith(`(${t.your_offer})`));
    return found.length > 0 && found;
  });
  assert.deepEqual(offers, [
    `radio: 12.50\u00a0USD about 2nd 8 min (${t.your_offer})`,
    `radio: 19.00\u00a0USD about 1st 4 min (${t.your_offer})`,
  ]);
});

test("the booth is read in play order, and its buttons name their song", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { max_open_per_guest: 10 });
  const [mia, ben] = [await guestWithMoney(service, "Mia"), await guestWithMoney(service, "Ben")];
  // The later request with the higher fee comes first in a round.
  const later = await requestOf(service, mia, dj, "Ceremony");
  await requestOf(service, ben, dj, "Blue Monday", { fee: 20 });
  await requestOf(service, mia, dj, "Elegia");
  await answer(service, dj, later, "accepted");
  const laptop = await scene.visitor({ base: service.url, width: 1280 });
  await logIn(service, laptop, dj);
  await laptop.page.goto("/booth");
  const nodes = await readingOrder(laptop.page);
  assert.deepEqual(outlineOf(nodes), [
    "banner",
    `navigation: ${t.navigation}`,
    "main",
    "1: Friday Night Vinyl",
    `navigation: ${t.booth}`,
    `region: ${t.new_requests}`,
    `2: ${t.new_requests}`,
    "3: Blue Monday",
    "3: Elegia",
    `region: ${t.accepted_songs}`,
    `2: ${t.accepted_songs}`,
    "3: Ceremony",
  ]);
  assert.deepEqual(unclearControls(nodes), []);
  const ofSongs = controlsOf(nodes).filter((control) => /Blue Monday|Elegia|Ceremony/.test(control));
  assert.deepEqual(ofSongs, [
    ...["Blue Monday", "Elegia"].flatMap((song) => [
      `button: ${t.accept_request} ${song}`,
      `button: ${t.reject_request} ${song}`,
      `DisclosureTriangle: ${t.more_actions} ${song}`,
    ]),
    `button: ${t.mark_played} Ceremony`,
    `button: ${t.reject_request} Ceremony`,
    `DisclosureTriangle: ${t.more_actions} Ceremony`,
  ]);
  // A card says its song when it gets the focus, and its place in the queue before the song.
  const texts = nodes.filter(({ role }) => ["StaticText", "listitem"].includes(role)).map(({ name }) => name.trim());
  const first = texts.indexOf("Blue Monday");
  assert.deepEqual(texts.slice(first, first + 4), ["Blue Monday", t.place_in_queue, "1", "Blue Monday"]);
});

test("a DJ hears of each new request once, and not the list", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, max_open_per_guest: 10 });
  const mia = await guestWithMoney(service, "Mia");
  const laptop = await scene.visitor({ base: service.url, width: 1280 });
  await logIn(service, laptop, dj);
  const heard = await hearing(laptop);
  await laptop.page.goto("/booth");
  await hears(heard, [t.connection_live]);
  for (const song of ["Blue Monday", "Ceremony"]) {
    const { id } = await requestOf(service, mia, dj, song);
    await laptop.page.locator(`#request-${id}`).waitFor();
    await hears(heard, [`${t.one_new_request}: ${song}, New Order, ${t.free}`]);
  }
});

test("a DJ hears of several new requests by their number, and of a change of the card with the focus", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, max_open_per_guest: 10 });
  const mia = await guestWithMoney(service, "Mia");
  const first = await requestOf(service, mia, dj, "Blue Monday");
  const laptop = await scene.visitor({ base: service.url, width: 1280 });
  await logIn(service, laptop, dj);
  const heard = await hearing(laptop);
  const { page } = laptop;
  await page.goto("/booth");
  await page.getByText(t.connection_live, { exact: true }).waitFor();
  await heard();
  const card = page.locator(`#request-${first.id}`);
  await card.getByRole("button", { name: `${t.accept_request} Blue Monday`, exact: true }).focus();
  let release;
  const changed = new Promise((released) => (release = released));
  await page.route("**/booth/live**", async (route) => {
    await changed;
    await route.continue();
  });
  await answer(service, dj, first, "accepted");
  for (const song of ["Ceremony", "Elegia"]) await requestOf(service, mia, dj, song);
  release();
  await card.getByText(t.outdated, { exact: true }).waitFor();
  await hears(heard, [`${t.outdated}. ${t.many_new_requests.replace("{n}", 2)}`]);
});

test("a guest hears once what the DJ answered", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0 });
  const mia = await guestWithMoney(service, "Mia");
  const request = await requestOf(service, mia, dj, "Blue Monday");
  const phone = await scene.phone({ base: service.url });
  await logIn(service, phone, mia);
  const heard = await hearing(phone);
  await phone.page.goto(`/g/${dj.code}`);
  await answer(service, dj, request, "accepted");
  await hears(heard, [`Blue Monday: ${t.state_accepted}`]);
  await answer(service, dj, request, "played");
  await hears(heard, [`Blue Monday: ${t.state_played}`]);
});

test("a refused form leads from the summary to the field, which says what is wrong", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const phone = await scene.phone({ base: service.url });
  const { page } = phone;
  await page.goto(`/g/${dj.code}`);
  const [title, artist, dedication] = [t.song_title, t.artist_name, t.dedication].map((label) =>
    page.getByLabel(label, { exact: true }));
  await title.fill(" ");
  await artist.fill("New Order");
  await page.getByLabel(t.your_name, { exact: true }).fill("Ada");
  await page.getByText(t.add_dedication, { exact: true }).click();
  // A browser without this rule sends more than the field accepts.
  await dedication.evaluate((field) => field.removeAttribute("maxlength"));
  await dedication.fill("x".repeat(141));
  await sendButton(page).click();
  const summary = page.getByRole("alert");
  await summary.waitFor();
  assert.ok(await isFocused(summary), "the summary has the focus");
  assert.deepEqual(await summary.getByRole("link").allInnerTexts(), [t.song_title, t.dedication]);
  const fields = (await readingOrder(page)).filter(({ role }) => ["combobox", "textbox"].includes(role));
  assert.deepEqual(fields.map(({ name, description }) => [name, description]), [
    [t.song_title, t.fill_in],
    [t.artist_name, ""],
    [t.dedication, `${t.dedication_hint} At most 140 characters.`],
    [t.your_name, t.your_name_hint],
  ]);
  assert.equal(await artist.inputValue(), "New Order");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await eventually("the link leads into the field", () => isFocused(dedication));
  await phone.see("live-refused-form");
});
