// Gigs that take no request, in both languages, and pages in the background.

import assert from "node:assert/strict";

import { openGig, register, requestSong, sendButton } from "../harness/evening.js";
import { answer, guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { boardShows } from "../harness/request_form.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const SONG = { title: "Blue Monday", artist: "New Order" };

// Hides the page, or shows it again, as another tab in front of it would.
function setHidden(page, isHidden) {
  return page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

// What a guest finds instead of the form, by the names of texts: title and advice.
const CLOSED = {
  paused: async ({ service }) => {
    const dj = await openGig(service);
    await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting: false } });
    return ({ page }) => page.goto(`/g/${dj.code}`);
  },
  ended: async ({ service }) => {
    const dj = await openGig(service);
    await service.call("POST", `/gigs/${dj.gig.id}/end`, { token: dj.token });
    return ({ page }) => page.goto(`/g/${dj.code}`);
  },
  queue_full: async ({ service }) => {
    const dj = await openGig(service, { popular: 0, upcoming: 0 });
    await requestOf(service, await register(service, "Ben"), dj, "Ceremony");
    return (phone) => requestSong(phone, dj.code, SONG);
  },
  blocked: async ({ service, mia }) => {
    const dj = await openGig(service, { popular: 0, upcoming: 0 });
    await requestOf(service, mia, dj, "Ceremony");
    await service.call("PUT", `/music/dj/blocks/${mia.id}`, { token: dj.token });
    return ({ page }) => page.goto(`/g/${dj.code}`);
  },
  members_only: async ({ service }) => {
    const dj = await openGig(service, { popular: 0, upcoming: 0, members_only: true });
    return async (phone) => {
      await phone.context.clearCookies();
      await requestSong(phone, dj.code, { ...SONG, name: "Ada" });
    };
  },
};

for (const language of ["en", "de"]) {
  test(`a gig that takes no request says why, and what the guest can do, in ${language}`, async (scene) => {
    const t = textsOf(language);
    const service = await scene.service({ isDurable: false, settings: { GIGS__MAX_OPEN: 1 } });
    const mia = await guestWithMoney(service, "Mia");
    const phone = await scene.phone({ base: service.url, language });
    await logIn(service, phone, mia);
    for (const [state, prepare] of Object.entries(CLOSED)) {
      const open = await prepare({ service, mia });
      const isPage = (response) => response.headers()["content-language"] !== undefined;
      const answered = phone.page.waitForResponse(isPage);
      await open(phone);
      assert.equal((await answered).headers()["content-language"], language);
      const closed = phone.page.locator(".closed");
      await closed.getByRole("heading", { name: t[`${state}_title`], exact: true }).waitFor();
      await closed.getByText(t[`${state}_advice`], { exact: true }).waitFor();
      assert.equal(await phone.page.locator("html").getAttribute("lang"), language);
      assert.equal(await phone.page.locator("#song_title").count(), 0, `${state}: no form`);
    }
  });
}

test("a page that says paused shows when requests go on", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const change = (accepting) => service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting } });
  await change(false);
  const phone = await scene.phone({ base: service.url });
  await phone.page.goto(`/g/${dj.code}`);
  await phone.page.getByText(t.paused_advice, { exact: true }).waitFor();
  await change(true);
  await sendButton(phone.page).waitFor();
});

test("what a guest types stays while the gig pauses, and comes back with the form", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const change = (accepting) => service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting } });
  const { page } = await scene.phone({ base: service.url });
  const status = (text) => page.locator(".hero").getByText(text, { exact: true }).waitFor();
  await page.goto(`/g/${dj.code}`);
  await page.getByLabel(t.song_title, { exact: true }).fill("Blue Monday");
  await change(false);
  await status(t.status_paused);
  assert.equal(await page.locator("#song_title").inputValue(), "Blue Monday");
  await page.getByLabel(t.artist_name, { exact: true }).fill("New Order");
  await page.getByLabel(t.your_name, { exact: true }).fill("Ada");
  await sendButton(page).click();
  const closed = page.locator(".closed");
  await closed.getByText("Blue Monday", { exact: true }).waitFor();
  await change(true);
  await page.locator("#song_title").waitFor();
  assert.equal(await page.locator("#song_title").inputValue(), "Blue Monday");
  assert.equal(await page.locator("#artist_name").inputValue(), "New Order");
});

test("a refused form keeps its text while the gig pauses", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const { page } = await scene.phone({ base: service.url });
  await page.goto(`/g/${dj.code}`);
  for (const [label, text] of [[t.song_title, "Blue Monday"], [t.artist_name, "New Order"], [t.your_name, " "]]) {
    await page.getByLabel(label, { exact: true }).fill(text);
  }
  await sendButton(page).click();
  await page.locator("#name-error").waitFor();
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting: false } });
  await page.locator(".hero").getByText(t.status_paused, { exact: true }).waitFor();
  assert.equal(await page.locator("#song_title").inputValue(), "Blue Monday");
});

test("the numbers above the form follow the queue and the price", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const { page } = await scene.phone({ base: service.url });
  await page.goto(`/g/${dj.code}`);
  const facts = page.locator(".hero .facts dd");
  assert.equal(await facts.last().innerText(), "0");
  await page.getByLabel(t.song_title, { exact: true }).fill("Temptation");
  await requestOf(service, await register(service, "Ben"), dj, "Ceremony");
  await eventually("the queue grows", async () => (await facts.last().innerText()) === "1");
  await service.call("PATCH", "/user/personal-info", { token: dj.token, body: { fee_popular_song: 7.5 } });
  await eventually("the price rises", async () => (await facts.first().innerText()).startsWith("7.50"));
  assert.equal(await page.locator("#song_title").inputValue(), "Temptation");
});

test("a booth in the background counts new requests in its title, and a guest page stays silent", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, max_open_per_guest: 10 });
  const mia = await guestWithMoney(service, "Mia");
  const first = await requestOf(service, mia, dj, "Age of Consent");
  const booth = await scene.visitor({ base: service.url, width: 1280 });
  const phone = await scene.phone({ base: service.url });
  await logIn(service, booth, dj);
  await booth.page.goto("/booth");
  await booth.page.getByText(t.connection_live, { exact: true }).waitFor();
  await logIn(service, phone, mia);
  await boardShows({ service, dj }, ({ queue_length }) => queue_length === 1);
  const stream = phone.page.waitForResponse(/\/stream$/);
  await phone.page.goto(`/g/${dj.code}`);
  await stream;
  const titles = [await booth.page.title(), await phone.page.title()];
  assert.deepEqual(titles, [`${t.booth} · Cuepoint`, `${t.request_a_song} · Cuepoint`]);
  for (const { page } of [booth, phone]) await setHidden(page, true);
  const reads = [];
  phone.page.on("request", (request) => reads.push(new URL(request.url()).pathname));
  await answer(service, dj, first, "accepted");
  for (const song of ["Blue Monday", "Ceremony"]) await requestOf(service, mia, dj, song);
  const counting = `${t.many_new_requests.replace("{n}", 2)} · ${titles[0]}`;
  await eventually("the title counts", async () => (await booth.page.title()) === counting);
  assert.equal(await phone.page.title(), titles[1]);
  assert.deepEqual(reads, []);
  for (const { page } of [booth, phone]) await setHidden(page, false);
  await phone.page.getByText(t.state_accepted, { exact: true }).waitFor();
  assert.equal(await booth.page.title(), titles[0]);
});
