// The display on a wall, which is read from ten metres.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { answer, guestWithMoney, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";

const t = textsOf("en");

// The least part of the height of the screen, and the least contrast.
const LEAST = { height: 0.04, contrast: 7 };

// Texts that are too small, too faint or outside of the screen. Runs in the page.
function unreadableTexts(least) {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return (channels(colour)[3] ?? 1) === 1 || !element.parentElement ? colour : groundOf(element.parentElement);
  };
  const findings = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    const element = text.parentElement;
    const isHidden = element.closest(".hidden, .skip, svg, script, noscript") || !element.checkVisibility();
    if (isHidden || !text.data.trim()) continue;
    seen += 1;
    const { color, fontSize } = getComputedStyle(element);
    const size = parseFloat(fontSize) / innerHeight;
    const [light, dark] = [luminance(color), luminance(groundOf(element))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    const range = document.createRange();
    range.selectNodeContents(text);
    const { top, bottom, left } = range.getBoundingClientRect();
    // Letters may be smaller than the line that is measured.
    const isOutside = top < -0.005 * innerHeight || bottom > 1.005 * innerHeight || left < 0;
    if (size < least.height - 0.0005 || contrast < least.contrast || isOutside) {
      findings.push(`"${text.data.trim()}": ${(100 * size).toFixed(2)} %, ${contrast.toFixed(2)}:1, ${top}-${bottom}`);
    }
  }
  return seen > 0 ? findings : ["there is no text"];
}

test("every text of a display has 4 % of its height and a contrast of 7:1", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { max_open_per_guest: 20 });
  const mia = await guestWithMoney(service, "Mia", 200);
  const made = [];
  for (let number = 1; number <= 10; number += 1) made.push(await requestOf(service, mia, dj, `Song number ${number}`));
  for (const request of made) await answer(service, dj, request, "accepted");
  await answer(service, dj, made[0], "played");
  const wall = await scene.visitor({ base: service.url, width: 1280 });
  const isReadable = async (state) => {
    for (const [width, height] of [[1280, 720], [1920, 1080], [1024, 768]]) {
      await wall.page.setViewportSize({ width, height });
      await wall.page.goto(`/g/${dj.code}/display`);
      const findings = await wall.page.evaluate(unreadableTexts, LEAST);
      assert.deepEqual(findings, [], `${state}, ${width} × ${height}`);
    }
    await wall.see(`live-display-${state}`);
  };
  await isReadable("open");
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting: false } });
  await isReadable("paused");
  await service.call("POST", `/gigs/${dj.gig.id}/end`, { token: dj.token });
  await isReadable("ended");
});

test("a display says that it reconnects after a minute without the server, and goes on by itself", async (scene) => {
  const service = await scene.service();
  const dj = await openGig(service);
  const wall = await scene.visitor({ base: service.url, width: 1280 });
  wall.expectProblems(/net::ERR_/);
  const { page } = wall;
  await page.clock.install();
  await page.goto(`/g/${dj.code}/display`);
  const lost = page.getByText(t.display_reconnecting, { exact: true });
  await service.kill();
  await page.clock.runFor(10_000);
  await page.clock.fastForward(30_000);
  assert.equal(await lost.isVisible(), false, "a short interruption is not mentioned");
  await page.clock.fastForward(60_000);
  await lost.waitFor();
  assert.deepEqual(await page.evaluate(unreadableTexts, LEAST), []);
  await service.start();
  await page.clock.runFor(32_000);
  await lost.waitFor({ state: "hidden" });
});
