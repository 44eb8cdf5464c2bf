// Texts of guests and DJs with markup, right-to-left letters and the greatest length.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { guestWithRequests, logIn } from "../harness/queue.js";
import { test } from "../harness/scene.js";

const TITLES = [
  `<img src=x onerror=alert(1)><b>"'&amp;</b></li></ol>`,
  "שיר \u202eהלילה\u202c (live) من البداية",
  "W".repeat(255),
  "Ünïcödé 🎧 ".repeat(23).trim(),
];
const NAME = `<i>Mia</i> ${"x".repeat(200)}`;
const GIG_TITLE = `<u>Freitag</u> ${"y".repeat(60)}`;

// The texts of users on a page, each with the element that it is isolated in.
const textsOfUsers = (page) =>
  page.locator("bdi[dir=auto][translate=no]").evaluateAll((texts) => texts.map((text) => text.textContent));

for (const width of [320, 1280]) {
  test(`markup, right-to-left and long texts stay texts and break no layout at ${width} px`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const dj = await openGig(service, { name: NAME, title: GIG_TITLE, venue: NAME, max_open_per_guest: 10 });
    const mia = await guestWithRequests(service, dj, { name: NAME, titles: TITLES, artist: TITLES[1] });
    const see = async (name, path, user, expected) => {
      const visitor = await scene.visitor({ base: service.url, width });
      if (user) await logIn(service, visitor, user);
      await visitor.page.goto(path);
      const found = await textsOfUsers(visitor.page);
      for (const text of expected) assert.ok(found.includes(text), `${name} lacks ${text}:\n${found.join("\n")}`);
      const injected = await visitor.page.locator("main").locator("img, script, b:has(b), i, u").count();
      assert.equal(injected, 0, `${name} has elements of a user`);
      await visitor.see(`hostile-live-${name}`);
      return visitor.page;
    };
    const [waiting, accepted, played] = TITLES;
    await see("guest", `/g/${dj.code}`, mia, [...TITLES, NAME, GIG_TITLE]);
    const booth = await see("booth", "/booth", dj, [waiting, accepted, played, NAME, GIG_TITLE]);
    const wall = await see("display", `/g/${dj.code}/display`, undefined, [accepted, played, GIG_TITLE]);
    const shown = await wall.locator(".qr, .letters").evaluateAll((parts) =>
      parts.map((part) => part.getBoundingClientRect()).every(({ top, bottom, left, right }) =>
        top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth));
    assert.ok(shown, "the code stays on the screen");
    await booth.close();
    await service.call("POST", `/gigs/${dj.gig.id}/end`, { token: dj.token });
    const report = await see("report", `/booth/gigs/${dj.gig.id}`, dj, [played, GIG_TITLE]);
    const hidden = await report.locator("td").evaluateAll((cells) =>
      cells.filter((cell) => cell.checkVisibility() && cell.getBoundingClientRect().right > innerWidth).length);
    assert.ok(width < 768 || hidden === 0, "the numbers beside long titles stay on the screen");
  });
}
