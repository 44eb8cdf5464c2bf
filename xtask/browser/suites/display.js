// The display on a wall, which is read from ten metres.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { answer, guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");

// A message of the greatest length.
const MESSAGE = "House and techno until two, and then what the floor wants. ".repeat(3).slice(0, 140).trim();

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
  const dj = await openGig(service, { max_open_per_guest: 20, message: MESSAGE });
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

// The titles of the songs on the screen, and whether a song is cut. Runs in the page.
function songsOnScreen() {
  const list = document.querySelector(".next").getBoundingClientRect();
  const songs = [...document.querySelectorAll(".next li")];
  const boxes = songs.map((song) => [song.querySelector("b").textContent, song.getBoundingClientRect()]);
  const seen = boxes.filter(([, { left, top }]) => left < list.right && top < list.bottom);
  return { titles: seen.map(([title]) => title), isCut: seen.some(([, { bottom }]) => bottom > list.bottom + 1) };
}

test("a display shows the name and the message of the DJ, and as many songs as fit beside them", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { max_open_per_guest: 20 });
  const mia = await guestWithMoney(service, "Mia", 200);
  for (let number = 1; number <= 8; number += 1) {
    await answer(service, dj, await requestOf(service, mia, dj, `Song number ${number}`), "accepted");
  }
  const wall = await scene.visitor({ base: service.url, width: 1280 });
  const { page } = wall;
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto(`/g/${dj.code}/display`);
  await page.getByText("DJ Kranich", { exact: true }).waitFor();
  const beside = await page.evaluate(songsOnScreen);
  assert.deepEqual([beside.titles.length, beside.isCut], [8, false]);
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { message: MESSAGE } });
  await page.getByText(MESSAGE, { exact: true }).waitFor();
  for (const [width, height] of [[1280, 720], [1024, 768], [720, 1280]]) {
    await page.setViewportSize({ width, height });
    const { titles, isCut } = await page.evaluate(songsOnScreen);
    assert.ok(titles.length >= 3 && titles[0] === "Song number 1" && !isCut, `${titles}, ${width} × ${height}`);
    // Less than half a line is cut by rounding.
    const isWhole = () => page.locator(".dj").evaluate((dj) => dj.scrollHeight <= dj.clientHeight + 8);
    await eventually(`the message is whole, ${width} × ${height}`, isWhole);
  }
});

test("a display, an overlay and a poster have the language that their address names", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const german = textsOf("de");
  const wall = await scene.visitor({ base: service.url, width: 1280 });
  const pages = [wall.page, await wall.open()];
  for (const [place, kind] of ["display", "overlay"].entries()) {
    await pages[place].goto(`/g/${dj.code}/${kind}?lang=de`);
    await pages[place].getByText(german.request_your_song, { exact: true }).waitFor();
    assert.equal(await pages[place].locator("html").getAttribute("lang"), "de");
  }
  // The live parts are read again.
  await service.call("PATCH", `/gigs/${dj.gig.id}`, { token: dj.token, body: { accepting: false } });
  for (const page of pages) await page.getByText(german.display_paused, { exact: true }).waitFor();
  const booth = await scene.visitor({ base: service.url, width: 1280 });
  await logIn(service, booth, dj);
  await booth.page.goto("/booth/qr?size=a4&lang=de");
  await booth.page.getByRole("heading", { name: german.poster_line, exact: true }).waitFor();
  await booth.page.getByRole("link", { name: "A6", exact: true }).click();
  await booth.page.waitForURL("**/booth/qr?size=a6&lang=de");
  await booth.page.getByRole("heading", { name: german.poster_line, exact: true }).waitFor();
});

test("the address on displays and posters has one line", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const booth = await scene.visitor({ base: service.url, width: 1280 });
  await logIn(service, booth, dj);
  const { page } = booth;
  for (const [path, width, height] of [
    [`/g/${dj.code}/display`, 1280, 720],
    [`/g/${dj.code}/display`, 1024, 768],
    [`/g/${dj.code}/display`, 720, 1280],
    ["/booth/qr?size=a4", 1280, 800],
    ["/booth/qr?size=a6", 1280, 800],
    ["/booth/qr?size=screen", 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await page.goto(path);
    const { text, lines, right } = await page.locator(".address").evaluate((address) => {
      const range = document.createRange();
      range.selectNodeContents(address);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      const lines = new Set(boxes.map(({ top }) => Math.round(top))).size;
      return { text: address.textContent, lines, right: Math.max(...boxes.map((box) => box.right)) };
    });
    assert.equal(text, `${new URL(service.url).host}/g/${dj.code}`);
    assert.ok(lines === 1 && right <= width, `${path}, ${width} × ${height}: ${lines} lines, up to ${right} px`);
  }
});

test("a display says within ten seconds that it reconnects, and goes on by itself", async (scene) => {
  const service = await scene.service();
  const dj = await openGig(service);
  const wall = await scene.visitor({ base: service.url, width: 1280 });
  wall.expectProblems(/net::ERR_/);
  const { page } = wall;
  await page.clock.install();
  await page.goto(`/g/${dj.code}/display`);
  const lost = page.getByText(t.display_reconnecting, { exact: true });
  const streamEnds = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/stream"));
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  await service.kill();
  await streamEnds;
  // The part is read again at a random time within two seconds.
  const readFails = page.waitForEvent("requestfailed", (request) => request.url().includes("/live?"));
  await page.clock.runFor(2_000);
  await readFails;
  await page.clock.runFor(3_000);
  assert.equal(await lost.isVisible(), false, "a short interruption is not mentioned");
  await page.clock.runFor(5_000);
  assert.equal(await lost.isVisible(), true);
  assert.deepEqual(await page.evaluate(unreadableTexts, LEAST), []);
  await service.start();
  await page.clock.runFor(32_000);
  await lost.waitFor({ state: "hidden" });
});
