// Prices that change while a form is open, and what the guest agrees to.

import assert from "node:assert/strict";

import { sendButton } from "../harness/evening.js";
import { answer, guestWithMoney, requestOf } from "../harness/queue.js";
import { amount, boardShows, fees, fill, gigAtPrice, setPrice, setShownPrice } from "../harness/request_form.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");

for (const hasMoney of [true, false]) {
  test(`"me too" after a raise asks about the price, ${hasMoney ? "with" : "without"} money`, async (scene) => {
    const scenery = await gigAtPrice(scene, { price: 9, hasMoney });
    const { service, dj, phone, page } = scenery;
    phone.expectProblems(/ERR_FAILED/);
    const accepted = await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Ceremony");
    await answer(service, dj, accepted, "accepted");
    await eventually("the song is up next", async () => {
      await page.goto(`/g/${dj.code}`);
      return (await page.getByRole("button", { name: t.me_too }).count()) > 0;
    });
    await page.getByRole("button", { name: t.me_too }).click();
    await fill(page, "Ceremony");
    assert.match(await sendButton(page).innerText(), amount("9.00"));
    // The tap is faster than the news.
    await page.route("**/live*", (route) => route.abort());
    await setPrice(scenery, 30);
    await eventually("the raise is known", async () => {
      await sendButton(page).click();
      return (await page.getByRole("alert").count()) > 0;
    });
    await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
    assert.match(await page.getByRole("alert").innerText(), amount("30.00"));
    assert.match(await sendButton(page).innerText(), amount("30.00"));
    assert.deepEqual(await fees(scenery, "Ceremony"), [9], "nothing is held");
    await sendButton(page).click();
    if (hasMoney) await page.getByText(t.state_pending, { exact: true }).waitFor();
    else await page.getByRole("link", { name: amount("30.00") }).waitFor();
    assert.deepEqual(await fees(scenery, "Ceremony"), hasMoney ? [30, 9] : [9]);
  });
}

test("a lowered price is shown within four seconds, and held", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  // Messages of a stream are three seconds apart.
  await page.waitForFunction(() => performance.now() > 3_000);
  await setPrice(scenery, 2);
  const isShown = async () => amount("2.00").test(await sendButton(page).innerText());
  await eventually("the form shows the price", isShown, 4_000);
  assert.match(await page.locator(".hero .facts dd").first().innerText(), amount("2.00"));
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [2]);
});

test("a lowered price is held without scripts, and a raised one is asked about", async (scene) => {
  const scenery = await gigAtPrice(scene, { script: false });
  const { dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  await setShownPrice(scenery, 2);
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  await page.goto(`/g/${dj.code}`);
  await fill(page, "Temptation");
  await setShownPrice(scenery, 30);
  await sendButton(page).click();
  await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [2]);
  assert.deepEqual(await fees(scenery, "Temptation"), []);
});

// The time from the arrival of a raise to the tap, in milliseconds, and whether the form agrees to the raise by then.
for (const [delay, isAgreed] of [[0, false], [1_000, false], [4_000, false], [6_000, true]]) {
  test(`a raise that arrives ${delay} ms before the tap is ${isAgreed ? "held" : "asked about"}`, async (scene) => {
    const scenery = await gigAtPrice(scene);
    const { dj, page } = scenery;
    await page.clock.install();
    await page.goto(`/g/${dj.code}`);
    await fill(page);
    await setPrice(scenery, 30);
    await eventually("the form shows the raise", async () => {
      const isShown = amount("30.00").test(await sendButton(page).innerText());
      if (isShown) await page.clock.pauseAt(await page.evaluate(() => Date.now() + 200));
      return isShown;
    });
    if (delay) await page.clock.runFor(delay);
    await page.clock.resume();
    await sendButton(page).click();
    if (isAgreed) {
      await page.getByText(t.state_pending, { exact: true }).waitFor();
      assert.deepEqual(await fees(scenery, "Blue Monday"), [30]);
    } else {
      await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
      assert.deepEqual(await fees(scenery, "Blue Monday"), []);
    }
  });
}

// Opens the page beside the request of another guest, so that the form has an offer of 7.50.
async function openWithOffer({ service, dj, page }) {
  await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Ceremony");
  await eventually("there is an offer", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.locator('#request input[value="7.50"]').count()) > 0;
  });
}

test("a form that was refused keeps the chosen offer", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { page } = scenery;
  await openWithOffer(scenery);
  await fill(page, " ");
  await page.locator('#request input[value="7.50"]').check();
  await sendButton(page).click();
  await page.locator("#song_title-error").waitFor();
  await setPrice(scenery, 7);
  await page.locator("#request .notice").filter({ hasText: amount("7.00") }).waitFor();
  assert.match(await sendButton(page).innerText(), amount("7.50"));
});

test("a price that falls and rises again is asked about for five seconds", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { dj, page } = scenery;
  await page.clock.install();
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  const shows = (price) =>
    eventually(`the form shows ${price}`, async () => amount(price).test(await sendButton(page).innerText()));
  const agreed = () => page.locator("#request [name=price_popular]").inputValue();
  for (const price of ["30.00", "5.00", "30.00"]) {
    await setPrice(scenery, Number(price));
    await shows(price);
  }
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 200));
  assert.equal(await agreed(), "5.00");
  await page.clock.runFor(4_000);
  assert.equal(await agreed(), "5.00");
  await page.clock.runFor(2_000);
  assert.equal(await agreed(), "30.00");
});

test("a chosen offer stays, and the form says that the price has changed", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { page } = scenery;
  await openWithOffer(scenery);
  await fill(page);
  await page.locator('#request input[value="7.50"]').check();
  assert.match(await sendButton(page).innerText(), amount("7.50"));
  await setPrice(scenery, 7);
  await page.locator("#request .notice").filter({ hasText: amount("7.00") }).waitFor();
  assert.match(await sendButton(page).innerText(), amount("7.50"));
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [7.5]);
});

test("a raise that a lower price has replaced is not agreed to later", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { service, dj, page } = scenery;
  const ben = await guestWithMoney(service, "Ben");
  // At a price of 30.00, an offer comes before it.
  await requestOf(service, ben, dj, "Ceremony", { fee: 35 });
  await page.clock.install();
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  const agreed = () => page.locator("#request [name=price_popular]").inputValue();
  await setPrice(scenery, 30);
  await eventually("the form shows the raise", async () => amount("30.00").test(await sendButton(page).innerText()));
  await page.locator('#request input[value="45.00"]').check();
  await setPrice(scenery, 9);
  await page.locator("#request .notice").filter({ hasText: amount("9.00") }).waitFor();
  await page.locator('#request input[value="price"]').check();
  await page.getByLabel(t.song_title, { exact: true }).focus();
  await requestOf(service, ben, dj, "Regret");
  await eventually("the form shows the price", async () => amount("9.00").test(await sendButton(page).innerText()));
  await page.clock.runFor(4_000);
  assert.equal(await agreed(), "5.00");
  await page.clock.runFor(2_000);
  assert.equal(await agreed(), "9.00");
});

test("a form for an upcoming artist holds nothing at its price once the gig does not ask for the kind", async (scene) => {
  const scenery = await gigAtPrice(scene, { price: 5, upcoming: 3, asks_kind: true });
  const { service, dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  await page.locator("#request").getByText(t.upcoming_artist).click();
  assert.match(await sendButton(page).innerText(), amount("3.00"));
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { asks_kind: false } });
  await boardShows(scenery, ({ asks_kind }) => asks_kind === 0);
  await sendButton(page).click();
  await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
  assert.match(await sendButton(page).innerText(), amount("5.00"));
  assert.deepEqual(await fees(scenery, "Blue Monday"), []);
});

// Blocks the guest, and returns the function that ends the block.
async function block({ service, dj, guest }) {
  // A DJ blocks a guest of whom there is a request.
  await requestOf(service, guest, dj, "Regret");
  const change = (method) => service.call(method, `/music/dj/blocks/${guest.id}`, { token: dj.token });
  await change("PUT");
  return () => change("DELETE");
}

test("a guest who is blocked finds no form, and one who is unblocked finds it again", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { service, dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await sendButton(page).waitFor();
  const unblock = await block(scenery);
  await page.goto(`/g/${dj.code}`);
  await page.getByRole("heading", { name: t.blocked_title }).waitFor();
  assert.equal(await page.locator("#song_title").count(), 0);
  // The page has read its part again when a blocked guest is unblocked.
  const length = page.locator(".facts dd").last();
  const before = await length.innerText();
  await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Ceremony");
  await eventually("the page has read the change", async () => (await length.innerText()) !== before);
  await unblock();
  await sendButton(page).waitFor({ timeout: 15_000 });
});

test("a form that was refused to a blocked guest is not sent again when the guest is unblocked", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  const unblock = await block(scenery);
  await sendButton(page).click();
  await page.getByRole("heading", { name: t.blocked_title }).waitFor();
  assert.match(page.url(), /\/requests$/);
  await unblock();
  await page.waitForURL(`/g/${dj.code}`, { timeout: 15_000 });
  await sendButton(page).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), []);
});

// Opens the page after a song of the guest was played, with the forms of a tip.
async function openWithTip({ service, dj, guest, page }) {
  const request = await requestOf(service, guest, dj, "Blue Monday");
  for (const status of ["accepted", "played"]) await answer(service, dj, request, status);
  await eventually("the song was played", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.getByText(t.tip_the_dj).count()) > 0;
  });
  await page.getByText(t.tip_the_dj).click();
}

test("the button of a tip names the typed amount", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { page } = scenery;
  await openWithTip(scenery);
  await page.getByLabel(t.other_amount).fill("3.50");
  assert.match(await page.locator("[data-sum]").innerText(), amount("3.50"));
});

test("a second tap on a tip gives no second one while the first waits for its answer", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { network, phone, page } = scenery;
  // The page tells the test of the second tap by a form to a path that does not exist.
  phone.expectProblems(/tapped/);
  await openWithTip(scenery);
  const release = network.holdForms();
  // Nothing else can be run in a page that waits for the answer to its form.
  await page.evaluate(() => {
    const tap = () => {
      // Some browsers focus no button that is tapped.
      document.activeElement.blur();
      document.querySelector("[name=preset]").click();
    };
    const first = document.querySelector("[name=preset]");
    const observer = new MutationObserver(() => {
      // The change either replaces the card, or marks it.
      if (first.isConnected && !document.querySelector(".outdated")) return;
      observer.disconnect();
      tap();
      navigator.sendBeacon("/tapped");
    });
    observer.observe(document.body, { subtree: true, childList: true });
    tap();
  });
  await setPrice(scenery, 7);
  await eventually("the second tap", () => network.posts.some(({ path }) => path === "/tapped"));
  release();
  await page.getByText(t.done_tipped, { exact: true }).waitFor();
  assert.equal(network.posts.filter(({ path }) => path.endsWith("/tips")).length, 1);
});
