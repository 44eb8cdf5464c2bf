// Guests and DJs without a pointer.

import assert from "node:assert/strict";

import { openGig, queueOf, sendButton } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

// Presses the tab key until the element has the focus.
async function tabTo(page, locator) {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("the element is not reached by the tab key");
}

test("a guest requests a song with the keyboard alone", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const guest = await scene.visitor({ base: service.url, width: 1280 });
  const { page } = guest;
  const t = textsOf("en");
  await page.goto(`/g/${dj.code}`);
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: t.skip_to_content });
  assert.ok(await skip.evaluate((element) => element === document.activeElement));
  const fields = [[t.song_title, "Blue Monday"], [t.artist_name, "New Order"], [t.your_name, "Ada"]];
  for (const [label, value] of fields) {
    await tabTo(page, page.getByLabel(label, { exact: true }));
    await page.keyboard.type(value);
  }
  await tabTo(page, sendButton(page));
  await page.keyboard.press("Enter");
  await page.getByText(t.state_pending).first().waitFor();
  await eventually("the request is in the queue", async () => (await queueOf(service, dj)).length === 1);
});
