// Taps in the booth that meet each other, other tabs and laptops, the guests, or the end of the evening.

import assert from "node:assert/strict";

import { UNDO, prepareBooth } from "../harness/booth.js";
import { test } from "../harness/scene.js";
import { eventually } from "../harness/wait.js";

test("a double click answers a request once", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday", "Dream Attack"], accepted: ["Ceremony"] });
  const laptop = await booth.laptop({ clock: false });
  // The second click must not meet what the first one put into its place, such as "Undo".
  await laptop.button("Ceremony", "played").dblclick();
  await laptop.button("Dream Attack", "reject").dblclick();
  await laptop.button("Blue Monday", "accept").dblclick();
  await booth.haveEffect({ Ceremony: ["accepted", "played"], "Dream Attack": ["rejected"], "Blue Monday": ["accepted"] });
  await laptop.answered();
  await booth.haveMoney({ played: 1, open: 1 });
  for (const path of ["/booth/played", "/booth/reject"]) {
    assert.equal(booth.network.posts.filter((post) => post.path === path).length, 1, path);
  }
  assert.ok(booth.network.posts.every(({ status }) => status === 200), "a repeated tap has the same key");
});

test("a click on a card that has just moved under a resting mouse is ignored, and a later one is not", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday", "Ceremony"] });
  const laptop = await booth.laptop({ clock: false });
  const { page } = laptop;
  const box = await laptop.button("Ceremony", "accept").boundingBox();
  const mouse = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(...mouse);
  const resumeAnimations = await laptop.stopAnimations();
  await booth.cancel("Blue Monday");
  await booth.request("Dream Attack");
  // "Dream Attack" comes to the place of "Ceremony", which moves up.
  await laptop.card("Dream Attack").waitFor();
  await page.mouse.click(...mouse);
  assert.deepEqual([await laptop.taps(), booth.network.posts], [0, []]);
  await resumeAnimations();
  const isUnder = ([x, y]) => document.elementFromPoint(x, y).closest("button")?.id;
  const button = `accept-${booth.idOf("Dream Attack")}`;
  await eventually("the button acts again", async () => (await page.evaluate(isUnder, mouse)) === button);
  await page.mouse.click(...mouse);
  await booth.haveEffect({ "Blue Monday": ["cancelled"], "Dream Attack": ["accepted"] });
  await laptop.answered();
});

test("a card that a notice moves takes no click, but the key of the card with the focus", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const laptop = await booth.laptop({ clock: false });
  const { page } = laptop;
  await laptop.card("Blue Monday").focus();
  await laptop.stopAnimations();
  // The mouse is where the button will be.
  const [x, y] = await laptop.button("Blue Monday", "reject").evaluate(async (button) => {
    const before = button.getBoundingClientRect();
    document.querySelector("[data-messages]").append("A notice");
    // The guard begins with the frame that shows the move.
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const after = button.getBoundingClientRect();
    return after.y > before.y ? [after.x + after.width / 2, after.y + after.height / 2] : [];
  });
  await page.mouse.click(x, y);
  assert.deepEqual([await laptop.taps(), booth.network.posts], [0, []]);
  await page.keyboard.press("a");
  await booth.haveEffect({ "Blue Monday": ["accepted"] });
  await laptop.answered();
});

test("the rejection of guest accounts says what it rejects, can be undone, and rejects nothing else", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday", "Dream Attack"], accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  const { page, t } = laptop;
  const form = page.locator("#reject-guests");
  const button = form.getByRole("button", { name: t.reject_guests, exact: true });
  await form.locator("summary").click();
  assert.match(await form.getByLabel(t.younger_than, { exact: true }).innerText(), /^5 minutes: 2 requests, 25\.00\sUSD\n/);
  await laptop.stopClock();
  await button.click();
  await form.getByRole("button", { name: `${t.undo_tap} ${t.reject_guests_title}`, exact: true }).click();
  await button.click();
  await laptop.clock.fastForward(UNDO - 1000);
  await booth.request("Elegia");
  assert.deepEqual(booth.network.posts, []);
  await laptop.clock.fastForward(1000);
  await laptop.clock.resume();
  await booth.haveEffect({ Ceremony: ["accepted"], "Blue Monday": ["rejected"], "Dream Attack": ["rejected"] });
  await laptop.answered();
  await form.getByText("15 minutes: 1 request, 12.50").waitFor({ state: "attached" });
});

test("the back button repeats no tap", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  await laptop.tap("Blue Monday", "accept");
  await laptop.tap("Ceremony", "played");
  const effects = { "Blue Monday": ["accepted"], Ceremony: ["accepted", "played"] };
  await laptop.page.getByRole("link", { name: laptop.t.past_gigs_link, exact: true }).click();
  // The script of the new page has replaced its address, which `goBack` would take for its own navigation.
  await laptop.page.locator("[data-connection]").waitFor({ state: "detached" });
  await laptop.page.waitForLoadState();
  await booth.haveEffect(effects);
  await laptop.page.goBack();
  await laptop.live();
  await laptop.button("Blue Monday", "played").waitFor();
  await laptop.card("Ceremony").waitFor({ state: "detached" });
  await laptop.answered();
  await laptop.page.goForward();
  await laptop.page.goBack();
  await laptop.live();
  await booth.haveEffect(effects);
  await booth.haveMoney({ played: 1, open: 1 });
});

test("two tabs of a DJ send a tap once, and both see its result", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday", "Dream Attack"], accepted: ["Ceremony"] });
  const one = await booth.laptop();
  const other = await one.tab();
  booth.network.cut();
  await one.tap("Blue Monday", "accept");
  await one.tap("Ceremony", "played");
  await other.tap("Dream Attack", "reject");
  await one.clock.fastForward(UNDO);
  await one.lost(3);
  await other.lost(3);
  const release = booth.network.holdForms();
  booth.network.restore();
  await eventually("a tap is on its way", () => booth.network.posts.length > 0);
  // Both tabs try again meanwhile.
  for (const tab of [one, other]) await tab.page.evaluate(() => dispatchEvent(new Event("online")));
  await one.clock.fastForward(UNDO);
  await other.page.evaluate(() => fetch("/booth/live").then((answer) => answer.text()));
  assert.equal(booth.network.posts.length, 1);
  release();
  const effects = { "Blue Monday": ["accepted"], Ceremony: ["accepted", "played"], "Dream Attack": ["rejected"] };
  await booth.haveEffect(effects);
  for (const tab of [one, other]) {
    await tab.button("Blue Monday", "played").waitFor();
    await tab.card("Ceremony").waitFor({ state: "detached" });
    await tab.card("Dream Attack").waitFor({ state: "detached" });
    await tab.answered();
  }
  assert.deepEqual(booth.network.posts.map(({ status }) => status), [200, 200, 200]);
  await booth.haveMoney({ played: 1, open: 1 });
});

test("a tab sends the taps of another one that was closed", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const one = await booth.laptop();
  const other = await one.tab();
  booth.network.cut();
  await one.tap("Blue Monday", "accept");
  await one.lost(1);
  await one.page.close();
  booth.network.restore();
  await booth.haveEffect({ "Blue Monday": ["accepted"] });
  await other.answered();
  await other.button("Blue Monday", "played").waitFor();
});

test("closing a tab leaves the undo of another one alone", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"] });
  const one = await booth.laptop();
  const other = await one.tab();
  await one.stopClock();
  await one.tap("Ceremony", "played");
  await other.page.goto("/booth/gigs");
  await one.undo("Ceremony").click();
  await one.button("Ceremony", "played").waitFor();
  await one.clock.resume();
  // A later tap shows that taps are sent.
  await one.tap("Blue Monday", "accept");
  await booth.haveEffect({ "Blue Monday": ["accepted"], Ceremony: ["accepted"] });
  await one.answered();
  assert.deepEqual(booth.network.posts.map(({ path }) => path), ["/booth/accept"]);
});

test("two laptops of a DJ answer a request once, and the later one sees it", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"] });
  const one = await booth.laptop();
  const other = await booth.laptop();
  await other.visitor.setOffline(true);
  await other.tap("Blue Monday", "accept");
  await other.tap("Ceremony", "reject");
  await other.clock.fastForward(UNDO);
  await other.lost(2);
  await one.tap("Blue Monday", "accept");
  await one.tap("Ceremony", "played");
  await one.clock.fastForward(UNDO);
  const effects = { "Blue Monday": ["accepted"], Ceremony: ["accepted", "played"] };
  await booth.haveEffect(effects);
  await other.visitor.setOffline(false);
  await other.notices(/^Already played at \d\d:\d\d\.$/);
  for (const laptop of [one, other]) {
    await laptop.button("Blue Monday", "played").waitFor();
    await laptop.card("Ceremony").waitFor({ state: "detached" });
  }
  for (const laptop of [one, other]) assert.equal(await laptop.taps(), 0);
  await booth.haveEffect(effects);
  await booth.haveMoney({ played: 1, open: 1 });
});

test("the end of the evening waits for a song that was just played", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  const { page, t } = laptop;
  await page.locator("#end summary").click();
  await laptop.stopClock();
  await laptop.tap("Ceremony", "played");
  await page.locator("#end").getByRole("button", { name: t.end_gig, exact: true }).click();
  await laptop.said(t.will_end);
  assert.deepEqual(await booth.states(), { Ceremony: "accepted", "Blue Monday": "pending" });
  await laptop.clock.fastForward(UNDO);
  await laptop.clock.resume();
  await page.getByRole("heading", { name: t.open_gig_title }).waitFor();
  await eventually("the end has released the open fees", async () => (await booth.effects())["Blue Monday"].length > 0);
  await booth.haveEffect({ Ceremony: ["accepted", "played"], "Blue Monday": ["rejected"] });
  await booth.haveMoney({ played: 1, open: 0 });
  assert.deepEqual(booth.network.posts.map(({ path, status }) => [path, status]), [["/booth/played", 200], ["/booth/end", 200]]);
});

test("a tap on a request that its guest cancelled meanwhile says so", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const laptop = await booth.laptop();
  await laptop.visitor.setOffline(true);
  await laptop.tap("Blue Monday", "accept");
  await laptop.lost(1);
  await booth.cancel("Blue Monday");
  await laptop.visitor.setOffline(false);
  await laptop.notices(/^Cancelled by the guest at \d\d:\d\d, 12\.50 USD returned\.$/);
  await laptop.card("Blue Monday").waitFor({ state: "detached" });
  assert.equal(await laptop.taps(), 0);
  await booth.haveEffect({ "Blue Monday": ["cancelled"] });
  await booth.haveMoney({ open: 0 });
});

test("a tap on a request that has expired meanwhile says when", async (scene) => {
  const settings = { GIGS__ACCEPTED_TTL_SECONDS: "2", REQUESTS__SWEEP_INTERVAL_SECONDS: "1" };
  const booth = await prepareBooth(scene, { settings, songs: ["Ceremony"] });
  const laptop = await booth.laptop();
  await laptop.tap("Ceremony", "accept");
  await laptop.button("Ceremony", "played").waitFor();
  await laptop.visitor.setOffline(true);
  await laptop.tap("Ceremony", "played");
  await laptop.clock.fastForward(UNDO);
  await laptop.lost(1);
  await booth.haveEffect({ Ceremony: ["accepted", "expired"] });
  await laptop.visitor.setOffline(false);
  await laptop.notices(/^Expired at \d\d:\d\d, 12\.50 USD goes back to the guest\.$/);
  assert.equal(await laptop.taps(), 0);
  await booth.haveEffect({ Ceremony: ["accepted", "expired"] });
  await booth.haveMoney({ open: 0 });
});

test("a booth in the background counts its new requests in the title", async (scene) => {
  const booth = await prepareBooth(scene, {});
  const laptop = await booth.laptop();
  const { page, t } = laptop;
  const title = await page.title();
  // Chromium without a window never hides a page.
  const setHidden = (isHidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  const shows = (text) => eventually(`the title is ${text}`, async () => (await page.title()) === text);
  await setHidden(true);
  await booth.request("Blue Monday");
  await shows(`${t.one_new_request} · ${title}`);
  await booth.request("Ceremony");
  await shows(`${t.many_new_requests.replace("{n}", 2)} · ${title}`);
  await setHidden(false);
  await shows(title);
  // A page that is seen keeps its title.
  await booth.request("Dream Attack");
  await laptop.card("Dream Attack").waitFor();
  assert.equal(await page.title(), title);
});
