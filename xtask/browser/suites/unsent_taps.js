// Taps in the booth that the network, the server or the browser interrupts.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { Laptop, UNDO, prepareBooth } from "../harness/booth.js";
import { options } from "../harness/options.js";
import { test } from "../harness/scene.js";
import { eventually } from "../harness/wait.js";

const MINUTE = 60_000;
const SONGS = ["Blue Monday", "Ceremony", "Dream Attack"];

// Taps one answer for each song, and waits until the header counts them.
async function tapThree(laptop) {
  await laptop.tap("Blue Monday", "accept");
  await laptop.tap("Ceremony", "accept");
  await laptop.tap("Dream Attack", "reject");
  await laptop.clock.fastForward(UNDO);
  await laptop.lost(3);
}

const ANSWERED = { "Blue Monday": ["accepted"], Ceremony: ["accepted"], "Dream Attack": ["rejected"] };

// The keys with which the forms of a path were sent, twice or more often.
function keysOf({ posts }, path) {
  const sent = posts.filter((post) => post.path === path);
  assert.ok(sent.length > 1, "a form was sent again");
  return new Set(sent.map(({ key }) => key));
}

// Waits until the three taps had their effect, once.
async function tookEffect(booth, laptop) {
  await booth.haveEffect(ANSWERED);
  await laptop.answered();
  await laptop.live();
  await booth.haveEffect(ANSWERED);
  await booth.haveMoney({ open: 2 });
}

test(
  "three taps during a minute without a network take effect once",
  async (scene) => {
    const booth = await prepareBooth(scene, { songs: SONGS });
    const laptop = await booth.laptop();
    await laptop.visitor.setOffline(true);
    await tapThree(laptop);
    for (const song of SONGS) await laptop.card(song).getByText(laptop.t.tap_unsent, { exact: true }).waitFor();
    // The clock of the browser is the one that matters. With all variants, it goes as fast as that of the test.
    await (options.all ? pause(MINUTE) : laptop.clock.fastForward(MINUTE));
    await laptop.lost(3);
    await booth.haveEffect({});
    await laptop.visitor.setOffline(false);
    await tookEffect(booth, laptop);
  },
  { limit: 2 * MINUTE },
);

test("three taps take effect once after the server was killed and started again", async (scene) => {
  const booth = await prepareBooth(scene, { songs: SONGS, isDurable: true });
  const laptop = await booth.laptop();
  await booth.service.kill();
  await tapThree(laptop);
  await booth.service.start();
  await tookEffect(booth, laptop);
});

test("a tap whose answer was lost is repeated with its key, also after the server was killed", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"], isDurable: true });
  const { network, service } = booth;
  const laptop = await booth.laptop();
  network.loseAnswers();
  await laptop.tap("Ceremony", "played");
  await laptop.clock.fastForward(UNDO);
  await booth.haveEffect({ Ceremony: ["accepted", "played"] });
  await service.kill();
  await laptop.tap("Blue Monday", "accept");
  const before = network.posts.length;
  network.restore();
  await service.start();
  const effects = { Ceremony: ["accepted", "played"], "Blue Monday": ["accepted"] };
  await booth.haveEffect(effects);
  await laptop.answered();
  await booth.haveEffect(effects);
  await booth.haveMoney({ played: 1, open: 1 });
  assert.equal(keysOf(network, "/booth/played").size, 1);
  const answered = network.posts.slice(before).filter(({ status }) => status !== undefined);
  assert.deepEqual(answered.map(({ path, status }) => [path, status]), [["/booth/played", 200], ["/booth/accept", 200]]);
});

test("a pause whose answer was lost is not repeated after the evening was resumed", async (scene) => {
  const booth = await prepareBooth(scene, {});
  const { network, service, dj } = booth;
  const laptop = await booth.laptop();
  const path = `/gigs/${dj.gig.id}`;
  const status = async () => (await service.call("GET", path, { token: dj.token })).gig.status;
  network.loseAnswers();
  await laptop.page.getByRole("button", { name: laptop.t.pause_gig, exact: true }).click();
  await eventually("the gig is paused", async () => (await status()) === "paused");
  await service.call("PATCH", path, { token: dj.token, body: { accepting: 1 } });
  network.restore();
  await laptop.answered();
  await laptop.said(/^Paused\./);
  assert.equal(await status(), "open");
  assert.equal(keysOf(network, "/booth/pause").size, 1);
  await laptop.page.getByRole("button", { name: laptop.t.pause_gig, exact: true }).waitFor();
});

test("a laptop that is closed without a network sends its taps when it is opened again", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony", "Dream Attack"] });
  const laptop = await booth.laptop();
  booth.network.cut();
  await laptop.tap("Blue Monday", "accept");
  await laptop.tap("Ceremony", "played");
  await laptop.tap("Dream Attack", "reject");
  await laptop.page.close();
  booth.network.restore();
  const again = new Laptop(booth, laptop.visitor, await laptop.visitor.open());
  await again.open();
  const effects = { "Blue Monday": ["accepted"], Ceremony: ["accepted", "played"], "Dream Attack": ["accepted", "rejected"] };
  await booth.haveEffect(effects);
  await again.answered();
  await booth.haveEffect(effects);
  await booth.haveMoney({ played: 1, open: 1 });
});

test("taps survive a restart of the browser", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"], accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  booth.network.cut();
  await laptop.tap("Blue Monday", "accept");
  await laptop.tap("Ceremony", "played");
  const stored = await laptop.visitor.context.storageState();
  await laptop.visitor.leave();
  booth.network.restore();
  const again = await booth.laptop({ stored });
  // The page did not end by itself, and another one may still offer to undo the tap.
  await again.clock.fastForward(2 * UNDO);
  const effects = { "Blue Monday": ["accepted"], Ceremony: ["accepted", "played"] };
  await booth.haveEffect(effects);
  await again.answered();
  await booth.haveEffect(effects);
  await booth.haveMoney({ played: 1, open: 1 });
});

test("a tap in its time of undo is sent when the page is left, and takes effect once", async (scene) => {
  const booth = await prepareBooth(scene, { accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  await laptop.stopClock();
  await laptop.tap("Ceremony", "played");
  await laptop.page.goto("/booth/gigs");
  await booth.haveEffect({ Ceremony: ["accepted", "played"] });
  assert.equal(await laptop.taps(), 1, "the browser did not see the answer");
  await laptop.clock.resume();
  await laptop.open();
  await laptop.answered();
  await booth.haveEffect({ Ceremony: ["accepted", "played"] });
  await booth.haveMoney({ played: 1, open: 0 });
  assert.equal(keysOf(booth.network, "/booth/played").size, 1);
});

test("an undone tap has no effect, and is never sent", async (scene) => {
  const booth = await prepareBooth(scene, { accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  await laptop.stopClock();
  await laptop.tap("Ceremony", "played");
  await laptop.undo("Ceremony").click();
  await laptop.button("Ceremony", "played").waitFor();
  await laptop.clock.fastForward(MINUTE);
  await laptop.clock.resume();
  // Another tap shows that taps are sent.
  await laptop.tap("Ceremony", "reject");
  await laptop.clock.fastForward(UNDO);
  await booth.haveEffect({ Ceremony: ["accepted", "rejected"] });
  await laptop.answered();
  assert.deepEqual(booth.network.posts.map(({ path }) => path), ["/booth/reject"]);
});

test("a tap that is being sent cannot be undone", async (scene) => {
  const booth = await prepareBooth(scene, { accepted: ["Ceremony"] });
  const laptop = await booth.laptop();
  const release = booth.network.holdForms();
  await laptop.stopClock();
  await laptop.tap("Ceremony", "played");
  await laptop.undo("Ceremony").waitFor();
  await laptop.clock.fastForward(UNDO);
  await laptop.clock.resume();
  await eventually("the tap is being sent", () => booth.network.posts.length > 0);
  assert.equal(await laptop.undo("Ceremony").count(), 0);
  await laptop.card("Ceremony").getByText(laptop.t.tap_sending, { exact: true }).waitFor();
  await laptop.page.keyboard.press("u");
  assert.equal(await laptop.taps(), 1);
  release();
  await booth.haveEffect({ Ceremony: ["accepted", "played"] });
  await laptop.answered();
  await booth.haveMoney({ played: 1, open: 0 });
});
