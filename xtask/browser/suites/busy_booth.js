// A booth with many requests.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { cancel, guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

// The open requests of one guest.
const EACH = 30;

// A gig with this number of requests, and the DJ's browser with the booth. All are for one song, or each for its own.
async function busyBooth(scene, count, { title, ...settings }) {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 1, upcoming: 1, max_open_per_guest: EACH });
  const requests = [];
  while (requests.length < count) {
    const guest = await guestWithMoney(service, `Guest ${requests.length}`);
    const numbers = Array.from({ length: Math.min(EACH, count - requests.length) }, (_, place) => requests.length + place);
    const songs = numbers.map((number) => title ?? `Song ${number}`);
    const made = await Promise.all(songs.map((song) => requestOf(service, guest, dj, song)));
    requests.push(...made.map((request) => ({ guest, ...request })));
  }
  const visitor = await scene.visitor({ base: service.url, scheme: "dark", ...settings });
  await logIn(service, visitor, dj);
  return { service, requests, visitor, page: visitor.page };
}

// Opens the booth, and waits until its stream is open.
async function open({ visitor, page }) {
  await page.goto("/booth");
  await page.getByText(textsOf(visitor.language).connection_live, { exact: true }).waitFor();
}

test("all cards that moved on a screen with 20 of them take no click for half a second", async (scene) => {
  const booth = await busyBooth(scene, EACH, { width: 1280 });
  const { service, requests, visitor, page } = booth;
  await page.setViewportSize({ width: 1280, height: 5000 });
  await open(booth);
  const session = await visitor.context.newCDPSession(page);
  await session.send("Animation.enable");
  await session.send("Animation.setPlaybackRate", { playbackRate: 0 });
  const firstId = await page.locator("[data-card]").first().getAttribute("id");
  const first = requests.find(({ id }) => firstId === `request-${id}`);
  await cancel(service, first.guest, first);
  await page.locator(`#request-${first.id}`).waitFor({ state: "detached" });
  const { moved, seen, all } = await page.evaluate(() => {
    const cards = [...document.querySelectorAll("[data-card]")];
    const isSeen = (card) => card.getBoundingClientRect().top < innerHeight;
    const moved = document.getAnimations().map(({ effect }) => effect.target.closest("[data-card]").id);
    return { moved, seen: cards.filter(isSeen).map(({ id }) => id), all: cards.length };
  });
  assert.deepEqual([...new Set(moved)].sort(), [...seen].sort(), "the cards on the screen, and no other");
  assert.ok(seen.length >= 20 && all > seen.length, `${seen.length} of ${all}`);
  const posts = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  const acceptOf = (id) => page.locator(`#${id} [data-tap="accept"] button`);
  for (const id of [seen[0], seen[10], seen[19]]) {
    const { x, y, width, height } = await acceptOf(id).boundingBox();
    await page.mouse.click(x + width / 2, y + height / 2);
  }
  assert.deepEqual(posts, []);
  const takeClicks = await page.evaluate(() => {
    const animations = document.getAnimations();
    return [499, 501].map((time) => {
      for (const animation of animations) animation.currentTime = time;
      return [...new Set(animations.map(({ effect }) => getComputedStyle(effect.target).pointerEvents))];
    });
  });
  assert.deepEqual(takeClicks, [["none"], ["auto"]]);
  await acceptOf(seen[19]).click();
  await eventually("the card is accepted", () => posts.length === 1);
});

// The tasks of the main thread of a page while the function runs, in milliseconds of processor time. The throttling of
// Chromium counts. What other programs of the machine take does not.
async function tasksDuring({ visitor, page }, run) {
  const browser = visitor.context.browser();
  await browser.startTracing(page, { categories: ["toplevel"] });
  await run();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const threads = traceEvents.filter(isMain).map(({ pid, tid }) => {
    const events = traceEvents.filter((event) => event.pid === pid && event.tid === tid && event.name.endsWith("::RunTask"));
    return events.map(({ tdur = 0 }) => tdur / 1000);
  });
  // Chromium has an idle page in reserve.
  return threads.sort((one, other) => other.length - one.length)[0];
}

// The maximum time for which a task may block a page with this number of requests, in milliseconds.
for (const [count, limit] of [[300, 100], [31, 50]]) {
  test(
    `ten taps and what follows block a slow phone with ${count} requests for at most ${limit} ms at a time`,
    async (scene) => {
      const booth = await busyBooth(scene, count, { width: 390 });
      const { visitor, page } = booth;
      await open(booth);
      const session = await visitor.context.newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
      const tasks = await tasksDuring(booth, async () => {
        for (let tap = 0; tap < 10; tap += 1) {
          // A click of a program is followed by a read at once, and not after the rest of a finger.
          const { id, title } = await page.locator("#new-list > [data-card]").first().evaluate((card) => {
            card.querySelector("[data-tap=accept] button").click();
            return { id: card.id, title: card.querySelector("h3").textContent };
          });
          await page.locator(`#accepted-list > #${id}`).waitFor();
          // The form for the end of the gig is merged last.
          await page.locator("#end li", { hasText: title }).first().waitFor({ state: "attached" });
        }
      });
      const longest = tasks.sort((one, other) => other - one).slice(0, 10).map(Math.round);
      assert.ok(longest[0] > 5 && longest[0] <= limit, `${longest} ms`);
    },
    { alone: true },
  );
}

test("place 100 has one line at 320 px", async (scene) => {
  const booth = await busyBooth(scene, 100, { width: 320 });
  const { page } = booth;
  await open(booth);
  const lines = await page.locator(".place", { hasText: /100$/ }).evaluate((place) => {
    const range = document.createRange();
    range.selectNode(place.lastChild);
    return [...range.getClientRects()].length;
  });
  assert.equal(lines, 1);
});

test("a card whose song was requested twelve times has one row of buttons at 390 px", async (scene) => {
  const booth = await busyBooth(scene, 12, { width: 390, title: "Dancing Queen" });
  const { page } = booth;
  await open(booth);
  const acts = page.locator("[data-card] .acts").first();
  await acts.getByText("Accept all 12", { exact: true }).waitFor();
  const boxes = await acts.locator("button:visible, .more summary").evaluateAll((all) =>
    all.map((button) => button.getBoundingClientRect()).map(({ top, width, height }) => ({ top, width, height })));
  assert.equal(boxes.length, 4);
  assert.equal(new Set(boxes.map(({ top }) => top)).size, 1, JSON.stringify(boxes));
  assert.deepEqual(boxes.filter(({ width, height }) => Math.min(width, height) < 48), []);
});
