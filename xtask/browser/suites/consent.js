// Prices that change while a form is open, and what the guest agrees to.

import assert from "node:assert/strict";

import { openGig, queueOf, sendButton } from "../harness/evening.js";
import { answer, guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");
const amount = (text) => new RegExp(`${text.replace(".", "\\.")}\\sUSD`);

// A gig at this price, and a phone at its page; its guest has money in the wallet.
async function evening(scene, { price = 5, script = true, hasMoney = true, ...fields } = {}) {
  const service = await scene.service({ isDurable: false, settings: { TOPUPS__SANDBOX: "page" } });
  const dj = await openGig(service, { popular: price, ...fields });
  const phone = await scene.phone({ base: service.url, script });
  const guest = await guestWithMoney(service, "Mia");
  if (hasMoney) await logIn(service, phone, guest);
  return { service, dj, guest, phone, page: phone.page };
}

const setPrice = ({ service, dj }, price) =>
  service.call("PATCH", "/user/personal-info", { token: dj.token, body: { fee_popular_song: price } });

async function fill(page, title = "Blue Monday") {
  for (const [label, value] of [[t.song_title, title], [t.artist_name, "New Order"], [t.your_name, "Ada"]]) {
    const field = page.getByLabel(label, { exact: true });
    if ((await field.count()) > 0) await field.fill(value);
  }
}

// The fees of the requests for the song that wait, in the order of the queue.
async function fees({ service, dj }, title) {
  const queue = await queueOf(service, dj);
  return queue.filter(({ request }) => request.song_title === title).map(({ request }) => request.fee);
}

for (const hasMoney of [true, false]) {
  test(`"me too" after a raise asks about the price, ${hasMoney ? "with" : "without"} money`, async (scene) => {
    const scenery = await evening(scene, { price: 9, hasMoney });
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

test("a lowered price is shown and held", async (scene) => {
  const scenery = await evening(scene);
  const { dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  await setPrice(scenery, 2);
  await eventually("the form shows the price", async () => amount("2.00").test(await sendButton(page).innerText()));
  assert.match(await page.locator(".hero .facts dd").first().innerText(), amount("2.00"));
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [2]);
});

test("a lowered price is held without scripts, and a raised one is asked about", async (scene) => {
  const scenery = await evening(scene, { script: false });
  const { service, dj, page } = scenery;
  const board = (price) =>
    eventually("the board has the price", async () => {
      const { board: shown } = await service.call("GET", `/boards/${dj.code}`);
      return shown.fee_popular_song === price;
    });
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  await setPrice(scenery, 2);
  await board(2);
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  await page.goto(`/g/${dj.code}`);
  await fill(page, "Temptation");
  await setPrice(scenery, 30);
  await board(30);
  await sendButton(page).click();
  await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [2]);
  assert.deepEqual(await fees(scenery, "Temptation"), []);
});

// The time from the arrival of a raise to the tap, in milliseconds, and whether the form agrees to the raise by then.
for (const [delay, isAgreed] of [[0, false], [1_000, false], [4_000, false], [6_000, true]]) {
  test(`a raise that arrives ${delay} ms before the tap is ${isAgreed ? "held" : "asked about"}`, async (scene) => {
    const scenery = await evening(scene);
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

test("a form that was refused keeps the chosen offer", async (scene) => {
  const scenery = await evening(scene);
  const { service, dj, page } = scenery;
  const ben = await guestWithMoney(service, "Ben");
  await requestOf(service, ben, dj, "Ceremony");
  await eventually("there is an offer", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.locator('#request input[value="7.50"]').count()) > 0;
  });
  await fill(page, " ");
  await page.locator('#request input[value="7.50"]').check();
  await sendButton(page).click();
  await page.locator("#song_title-error").waitFor();
  await setPrice(scenery, 7);
  await page.locator("#request .notice").filter({ hasText: amount("7.00") }).waitFor();
  assert.match(await sendButton(page).innerText(), amount("7.50"));
});

test("a price that falls and rises again is asked about for five seconds", async (scene) => {
  const scenery = await evening(scene);
  const { service, dj, page } = scenery;
  const ben = await guestWithMoney(service, "Ben");
  await page.clock.install();
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  const shows = (price) =>
    eventually(`the form shows ${price}`, async () => amount(price).test(await sendButton(page).innerText()));
  const agreed = () => page.locator("#request [name=price_popular]").inputValue();
  for (const price of ["30.00", "5.00", "30.00"]) {
    await setPrice(scenery, Number(price));
    // A board that is as it was is not announced.
    await requestOf(service, ben, dj, "Ceremony");
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
  const scenery = await evening(scene);
  const { service, dj, page } = scenery;
  await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Ceremony");
  await eventually("there is an offer", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.locator('#request input[value="7.50"]').count()) > 0;
  });
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

test("a form for an upcoming artist holds nothing at its price once the gig does not ask for the kind", async (scene) => {
  const scenery = await evening(scene, { price: 5, upcoming: 3, asks_kind: true });
  const { service, dj, page } = scenery;
  await page.goto(`/g/${dj.code}`);
  await fill(page);
  await page.locator("#request").getByText(t.upcoming_artist).click();
  assert.match(await sendButton(page).innerText(), amount("3.00"));
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { asks_kind: false } });
  await eventually("the board asks for no kind", async () => {
    const { board } = await service.call("GET", `/boards/${dj.code}`);
    return board.asks_kind === 0;
  });
  await sendButton(page).click();
  await page.getByRole("alert").getByText(t.price_raised_question).waitFor();
  assert.match(await sendButton(page).innerText(), amount("5.00"));
  assert.deepEqual(await fees(scenery, "Blue Monday"), []);
});

test("a form that is sent after \"back\" makes no second request", async (scene) => {
  const scenery = await evening(scene);
  const { service, dj, page } = scenery;
  const played = await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Blue Monday");
  await answer(service, dj, played, "accepted");
  await answer(service, dj, played, "played");
  await eventually("the song was played", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.getByText(t.last_played).count()) > 0;
  });
  await fill(page);
  await sendButton(page).dblclick();
  await page.getByRole("alert").getByText(t.again_question).waitFor();
  await sendButton(page).dblclick();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  await page.goBack();
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  assert.deepEqual(await fees(scenery, "Blue Monday"), [5]);
});

test("a guest who is blocked finds no form, and one who is unblocked finds it again", async (scene) => {
  const { service, dj, guest, page } = await evening(scene);
  await page.goto(`/g/${dj.code}`);
  await sendButton(page).waitFor();
  // A DJ blocks a guest of whom there is a request.
  await requestOf(service, guest, dj, "Regret");
  const path = `/music/dj/blocks/${guest.id}`;
  await service.call("PUT", path, { token: dj.token });
  await page.goto(`/g/${dj.code}`);
  await page.getByRole("heading", { name: t.blocked_title }).waitFor();
  assert.equal(await page.locator("#song_title").count(), 0);
  await service.call("DELETE", path, { token: dj.token });
  // The change of another guest makes the page read its part.
  await requestOf(service, await guestWithMoney(service, "Ben"), dj, "Ceremony");
  await sendButton(page).waitFor();
});

test("the button of a tip names the typed amount", async (scene) => {
  const { service, dj, guest, page } = await evening(scene);
  const request = await requestOf(service, guest, dj, "Blue Monday");
  await answer(service, dj, request, "accepted");
  await answer(service, dj, request, "played");
  await eventually("the song was played", async () => {
    await page.goto(`/g/${dj.code}`);
    return (await page.getByText(t.tip_the_dj).count()) > 0;
  });
  await page.getByText(t.tip_the_dj).click();
  await page.getByLabel(t.other_amount).fill("3.50");
  assert.match(await page.locator("[data-sum]").innerText(), amount("3.50"));
});
