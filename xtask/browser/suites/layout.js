// What belongs together is shown together, on phones and on laptops.

import assert from "node:assert/strict";

import { openGig, register } from "../harness/evening.js";
import { options } from "../harness/options.js";
import { answer, guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { serve, stop } from "../harness/static_server.js";
import { textsOf } from "../harness/texts.js";

const t = textsOf("en");

const boxesOf = (page, ...selectors) =>
  Promise.all(selectors.map((selector) => page.locator(selector).first().evaluate((found) => found.getBoundingClientRect().toJSON())));

// A laptop of a guest with a request that the DJ has accepted.
async function laptopOfGuest(scene) {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const mia = await guestWithMoney(service, "Mia");
  await answer(service, dj, await requestOf(service, mia, dj, "Blue Monday"), "accepted");
  const laptop = await scene.visitor({ base: service.url, width: 1280 });
  return { service, dj, mia, laptop, page: laptop.page };
}

test("the songs of a guest page begin beside the form on a laptop, right below their heading", async (scene) => {
  const { dj, laptop, page } = await laptopOfGuest(scene);
  await page.goto(`/g/${dj.code}`);
  const [form, heading, songs] = await boxesOf(page, "#request", "#next", ".setlist");
  assert.ok(heading.left > form.right && Math.abs(heading.top - form.top) < 24, JSON.stringify({ form, heading }));
  assert.ok(songs.top - heading.bottom < 40, JSON.stringify({ heading, songs }));
  await laptop.see("live-guest-laptop");
});

test("both columns of an account begin below its notice on a laptop", async (scene) => {
  const { service, mia, laptop, page } = await laptopOfGuest(scene);
  await logIn(service, laptop, mia);
  await page.goto("/account");
  await page.getByRole("button", { name: `${t.save}: ${t.name}` }).click();
  await page.getByText(t.done_saved, { exact: true }).waitFor();
  const [notice, left, right] = await boxesOf(page, "main > .notice", "main > .stack", "main > .side");
  assert.ok(left.top > notice.bottom && left.top === right.top, JSON.stringify({ notice, left, right }));
});

test("the start page leads back to a gig right above its headline", async (scene) => {
  const { service, mia, laptop, page } = await laptopOfGuest(scene);
  await logIn(service, laptop, mia);
  await page.goto("/");
  const [back, headline, code] = await boxesOf(page, "main .actions a", "h1", "form.code");
  assert.ok(back.top > 0 && headline.top - back.bottom < 40, JSON.stringify({ back, headline }));
  assert.ok(code.left > headline.right && code.top < headline.bottom, JSON.stringify({ headline, code }));
  await laptop.see("live-start-laptop");
});

test("the booth has one price unless guests choose the kind of their song", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const phone = await scene.phone({ base: service.url });
  const { page } = phone;
  await logIn(service, phone, await register(service, "DJ Kranich", { isDj: true }));
  await page.goto("/booth");
  const upcoming = page.locator("#fee_upcoming_artist");
  await page.locator("#fee_popular_song").waitFor();
  assert.equal(await upcoming.isVisible(), false);
  await page.locator("[name=asks_kind]").check();
  await upcoming.waitFor();
});

for (const width of [320, 390]) {
  test(`past evenings show every figure with its name at ${width} px`, async (scene) => {
    const server = await serve(options.gallery);
    scene.atEnd(() => stop(server));
    const { page } = await scene.visitor({ base: server.url, width });
    await page.goto("/gigs-en.html");
    const figures = await page.locator(".past tr").nth(1).locator("td.right").evaluateAll((cells) =>
      cells.map((cell) => ({ name: JSON.parse(getComputedStyle(cell, "::before").content), right: cell.getBoundingClientRect().right })));
    const names = [t.column_earned, t.column_tips, t.column_played, t.column_requests, t.column_guests, t.column_stars];
    assert.deepEqual(figures.map(({ name }) => name), names);
    assert.ok(figures.every(({ right }) => right <= width), JSON.stringify(figures));
    const lines = await page.locator(".past time").evaluateAll((times) => times.map((time) => time.getClientRects().length));
    assert.ok(lines.length > 1 && lines.every((count) => count === 1), `${lines}`);
  });
}

test("the first gig of a DJ is named after the local day, and the next one after the last", async (scene) => {
  const service = await scene.service({ isDurable: false, settings: { GIGS__USUAL_PRICE: "7.50" } });
  const dj = await register(service, "DJ Kranich", { isDj: true });
  const laptop = await scene.visitor({ base: service.url, width: 1280, scheme: "dark" });
  const { page } = laptop;
  await logIn(service, laptop, dj);
  // The new day has begun in Berlin.
  await laptop.context.clock.setFixedTime("2026-03-14T23:30:00Z");
  await page.goto("/booth");
  const title = page.getByLabel(t.gig_title, { exact: true });
  assert.equal(await title.inputValue(), "March 15, 2026");
  await laptop.see("live-first-gig");
  await page.getByRole("button", { name: t.open_gig }).click();
  await page.getByRole("heading", { level: 1, name: "March 15, 2026" }).waitFor();
  const { data: [gig] } = await service.call("GET", "/gigs", { token: dj.token });
  await service.call("POST", `/gigs/${gig.id}/end`, { token: dj.token });
  await laptop.context.clock.setFixedTime("2026-03-21T20:00:00Z");
  await page.goto("/booth");
  assert.equal(await title.inputValue(), "March 15, 2026");
});

test("the first gig of a DJ is named after the day without scripts, too", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await register(service, "DJ Kranich", { isDj: true });
  const laptop = await scene.visitor({ base: service.url, width: 1280, script: false });
  await logIn(service, laptop, dj);
  await laptop.page.goto("/booth");
  assert.match(await laptop.page.getByLabel(t.gig_title, { exact: true }).inputValue(), /^\d{1,2} [A-Z][a-z]{2} \d{4}$/);
});

test("the booth dates a request of this minute in German words", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const german = textsOf("de");
  await requestOf(service, await guestWithMoney(service, "Mia"), dj, "Blue Monday");
  const laptop = await scene.visitor({ base: service.url, width: 1280, language: "de" });
  await logIn(service, laptop, dj);
  await laptop.page.goto("/booth");
  await laptop.page.getByText(`${german.requested_at} ${german.this_minute}`).first().waitFor();
});
