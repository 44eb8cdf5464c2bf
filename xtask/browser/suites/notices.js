// Notices above the content of a page.

import assert from "node:assert/strict";

import { register } from "../harness/evening.js";
import { options } from "../harness/options.js";
import { logIn } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { serve, stop } from "../harness/static_server.js";
import { textsOf } from "../harness/texts.js";

const t = textsOf("en");

// Sends a form of the account, and returns the width of the ring around the notice that has the focus then.
async function ringAfter(page, send) {
  await page.goto("/account");
  const isLoaded = page.waitForEvent("load");
  await send(page.getByRole("button", { name: `${t.save}: ${t.name}` }));
  await isLoaded;
  await page.getByText(t.done_saved, { exact: true }).waitFor();
  return page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    if (!document.activeElement.matches(".notice")) throw new Error(document.activeElement.outerHTML);
    return outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
  });
}

const tap = (button) => button.click();
const press = async (button) => {
  await button.focus();
  await button.press("Enter");
};

for (const width of [390, 1280]) {
  test(`a notice has a ring after a key, and none after a tap, at ${width} px`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const visitor = await scene.visitor({ base: service.url, width });
    await logIn(service, visitor, await register(service, "Mia"));
    assert.equal(await ringAfter(visitor.page, tap), 0);
    assert.equal(await ringAfter(visitor.page, press), 3);
    await visitor.see("live-notice-after-a-key");
    assert.equal(await ringAfter(visitor.page, tap), 0);
  });
}

test("a notice has no ring after a tap without scripts", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const phone = await scene.phone({ base: service.url, script: false });
  await logIn(service, phone, await register(service, "Mia"));
  assert.equal(await ringAfter(phone.page, tap), 0);
});

// States of the gallery, and whether something is lost in them.
const STATES = {
  "guest-draft-unpaid": false,
  "wallet-guest": false,
  "account-guest": false,
  "guest-draft-failed": true,
  "guest-draft-too-late": true,
  "wallet-owes": true,
};

for (const [name, isLoss] of Object.entries(STATES)) {
  test(`the notice of ${name} is ${isLoss ? "red" : "not red"}`, async (scene) => {
    const server = await serve(options.gallery);
    scene.atEnd(() => stop(server));
    const { page } = await scene.phone({ base: server.url });
    await page.goto(`/${name}-en.html`);
    const isRed = await page.locator(".notice").first().evaluate((notice) => {
      const red = parseInt(getComputedStyle(notice).getPropertyValue("--bad").trim().slice(1), 16);
      return getComputedStyle(notice).borderLeftColor === `rgb(${red >> 16}, ${(red >> 8) & 255}, ${red & 255})`;
    });
    assert.equal(isRed, isLoss);
  });
}
