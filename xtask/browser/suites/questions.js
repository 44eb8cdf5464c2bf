// The questions of a form, and what their answers are valid for.

import assert from "node:assert/strict";

import { sendButton } from "../harness/evening.js";
import { requestOf } from "../harness/queue.js";
import { amount, fees, fill, gigAtPrice, havePlayed, send, setShownPrice } from "../harness/request_form.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");

const haveOwnOpen = ({ service, guest, dj }) => requestOf(service, guest, dj, "Blue Monday");

// What the form asks about beside the price: how it came to it, and the sentences.
const QUESTIONS = [
  ["a song that was played", [havePlayed], [t.played_at]],
  ["a song with an open request of the guest", [haveOwnOpen], [t.requested_already]],
  ["a played song with an open request", [havePlayed, haveOwnOpen], [t.played_at, t.requested_already]],
];

for (const [song, causes, sentences] of QUESTIONS) {
  test(`one notice asks about a raise and about ${song}`, async (scene) => {
    const scenery = await gigAtPrice(scene, { price: 9 });
    const { dj, phone, page } = scenery;
    phone.expectProblems(/ERR_FAILED/);
    for (const cause of causes) await cause(scenery);
    // The tap is faster than the news.
    await page.route("**/live*", (route) => route.abort());
    await page.goto(`/g/${dj.code}`);
    await fill(page);
    assert.match(await sendButton(page).innerText(), amount("9.00"));
    const before = await fees(scenery, "Blue Monday");
    await setShownPrice(scenery, 30);
    await sendButton(page).click();
    const notice = page.getByRole("alert");
    await notice.getByText(t.again_question).waitFor();
    const asked = await notice.innerText();
    for (const sentence of sentences) assert.ok(asked.includes(sentence), asked);
    assert.match(asked, amount("30.00"));
    assert.match(await sendButton(page).innerText(), amount("30.00"));
    assert.deepEqual(await fees(scenery, "Blue Monday"), before, "nothing is held");
    await sendButton(page).click();
    await eventually("the request is made", async () => (await fees(scenery, "Blue Monday")).includes(30));
  });
}

test("after a question, another song that was played is asked about", async (scene) => {
  const scenery = await gigAtPrice(scene);
  const { dj, page } = scenery;
  await havePlayed(scenery, "Temptation");
  await havePlayed(scenery, "Blue Monday");
  await page.goto(`/g/${dj.code}`);
  await send(page, "Blue Monday");
  const notice = page.getByRole("alert");
  await notice.getByText(t.again_question).waitFor();
  // The answer to the second form has another document.
  await page.evaluate(() => document.querySelector("[role=alert]").setAttribute("data-first", ""));
  await send(page, "Temptation");
  await page.locator("[role=alert]:not([data-first])").getByText(t.again_question).waitFor();
  assert.equal(await page.getByLabel(t.song_title, { exact: true }).inputValue(), "Temptation");
  assert.deepEqual([await fees(scenery, "Temptation"), await fees(scenery, "Blue Monday")], [[], []]);
});

test("an answer in one tab does not agree to a raise in another", async (scene) => {
  const scenery = await gigAtPrice(scene, { script: false });
  const { dj, phone, page } = scenery;
  const other = await phone.open();
  await havePlayed(scenery);
  for (const tab of [page, other]) {
    await tab.goto(`/g/${dj.code}`);
    await send(tab);
    await tab.getByRole("alert").getByText(t.again_question).waitFor();
  }
  await sendButton(page).click();
  await page.getByText(t.state_pending, { exact: true }).waitFor();
  await setShownPrice(scenery, 30);
  await sendButton(other).click();
  await other.getByRole("alert").filter({ hasText: amount("30.00") }).waitFor();
  assert.match(await sendButton(other).innerText(), amount("30.00"));
  assert.deepEqual(await fees(scenery, "Blue Monday"), [5]);
});

for (const hasMoney of [true, false]) {
  test(`a form sent twice and after "back" makes one request, ${hasMoney ? "with" : "without"} money`, async (scene) => {
    const scenery = await gigAtPrice(scene, { hasMoney });
    const { dj, page } = scenery;
    await havePlayed(scenery);
    await page.goto(`/g/${dj.code}`);
    await fill(page);
    await sendButton(page).dblclick();
    await page.getByRole("alert").getByText(t.again_question).waitFor();
    await sendButton(page).dblclick();
    const pending = page.getByText(t.state_pending, { exact: true });
    await (hasMoney ? pending : page.getByRole("link", { name: amount("5.00") })).waitFor();
    // "Back" leads to a new form, which proposes nothing.
    await page.goBack();
    if (!hasMoney) {
      await page.getByRole("link", { name: t.to_the_payment, exact: true }).click();
      await page.getByRole("link", { name: amount("5.00") }).click();
      await page.getByRole("button", { name: t.sandbox_pay, exact: true }).click();
    }
    await pending.waitFor();
    assert.equal(await page.getByLabel(t.song_title, { exact: true }).inputValue(), "");
    assert.deepEqual(await fees(scenery, "Blue Monday"), [5]);
  });
}
