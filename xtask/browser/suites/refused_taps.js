// Taps in the booth that the service or somebody else refuses: sessions that ended, portals, overload, suspensions.

import assert from "node:assert/strict";

import { prepareBooth } from "../harness/booth.js";
import { openGig } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { eventually } from "../harness/wait.js";

const OPERATOR = { email: "operator@example.com", password: "only for this run" };
const OPERATOR_SETTINGS = { BOOTSTRAP__OPERATOR_EMAIL: OPERATOR.email, BOOTSTRAP__OPERATOR_PASSWORD: OPERATOR.password };
const SONGS = ["Blue Monday", "Ceremony", "Dream Attack"];
const ACCEPTED = Object.fromEntries(SONGS.map((song) => [song, ["accepted"]]));

async function acceptAll(laptop) {
  for (const song of SONGS) await laptop.tap(song, "accept");
}

function loginFor(taps, { t }) {
  return taps === 1 ? t.log_in_for_one_tap : t.log_in_for_taps.replace("{n}", taps);
}

// Three taps in a session that ended.
async function tapWithoutSession(scene) {
  const booth = await prepareBooth(scene, { songs: SONGS });
  const laptop = await booth.laptop();
  await booth.service.call("POST", "/auth/logout-everywhere", { token: booth.dj.token, body: {} });
  await acceptAll(laptop);
  await laptop.connection(loginFor(3, laptop));
  await booth.logInAgain();
  await booth.haveEffect({});
  return { booth, laptop };
}

test("taps in a session that ended are sent after a login of the same user", async (scene) => {
  const { booth, laptop } = await tapWithoutSession(scene);
  const { page } = laptop;
  await page.getByRole("link", { name: loginFor(3, laptop), exact: true }).click();
  await page.waitForURL("**/login?**");
  await page.getByLabel(laptop.t.email, { exact: true }).fill(booth.dj.email);
  await page.getByLabel(laptop.t.password, { exact: true }).fill(booth.dj.password);
  await page.getByRole("button", { name: laptop.t.log_in, exact: true }).click();
  await booth.haveEffect(ACCEPTED);
  await laptop.answered();
  await laptop.live();
  await booth.haveMoney({ open: 3 });
});

test("taps of another user are dropped, and this is said", async (scene) => {
  const { booth, laptop } = await tapWithoutSession(scene);
  const other = await openGig(booth.service, { name: "DJ Reiher" });
  await laptop.logIn(other);
  await laptop.open();
  await laptop.notices(laptop.t.dropped_taps_of_others.replace("{n}", 3));
  assert.equal(await laptop.taps(), 0);
  await laptop.logIn(booth.dj);
  await laptop.open();
  await booth.haveEffect({});
  assert.ok(booth.network.posts.every(({ path, status }) => !path.startsWith("/booth/") || status === 401));
});

test("taps of a page are not sent in the session of a user who logged in elsewhere in the browser", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const other = await openGig(booth.service, { name: "DJ Reiher" });
  const laptop = await booth.laptop();
  await laptop.logIn(other);
  await laptop.tap("Blue Monday", "accept");
  await laptop.connection(loginFor(1, laptop));
  assert.equal(await laptop.card("Blue Monday").count(), 1, "the page shows the booth of its own user");
  await laptop.logIn(booth.dj);
  await laptop.clock.fastForward(2000);
  await booth.haveEffect({ "Blue Monday": ["accepted"] });
  await laptop.answered();
  await laptop.live();
});

test("a booth in another tab sends no taps of another user", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const other = await openGig(booth.service, { name: "DJ Reiher" });
  const laptop = await booth.laptop();
  await laptop.logIn(other);
  await laptop.tab();
  await laptop.tap("Blue Monday", "accept");
  await laptop.connection(loginFor(1, laptop));
  await laptop.clock.fastForward(10000);
  await booth.haveEffect({});
  // A post without a status has no answer yet.
  const accepted = ({ path, status }) => path.startsWith("/booth/") && ![401, undefined].includes(status);
  assert.deepEqual(booth.network.posts.filter(accepted), []);
  assert.equal(await laptop.taps(), 1);
  await laptop.logIn(booth.dj);
  await laptop.clock.fastForward(60000);
  await booth.haveEffect({ "Blue Monday": ["accepted"] });
});

test("taps older than twelve hours are dropped, and this is said", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday", "Ceremony"] });
  const laptop = await booth.laptop();
  booth.network.cut();
  await laptop.tap("Blue Monday", "accept");
  await laptop.page.goto("about:blank");
  booth.network.restore();
  await laptop.clock.fastForward("12:00:10");
  await laptop.open();
  await laptop.notices(laptop.t.dropped_old_taps.replace("{n}", 1));
  await laptop.tap("Ceremony", "accept");
  await booth.haveEffect({ Ceremony: ["accepted"] });
});

const PORTALS = {
  "answers everything with a page": (response) =>
    response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><p>Welcome to the free network"),
  "redirects everything": (response) =>
    response.writeHead(302, { Location: "/portal" }).end(),
};

for (const [behaviour, answer] of Object.entries(PORTALS)) {
  test(`a portal that ${behaviour} receives no tap`, async (scene) => {
    const booth = await prepareBooth(scene, { songs: SONGS });
    const { network } = booth;
    const laptop = await booth.laptop();
    network.replaceService((_, response) => answer(response));
    await acceptAll(laptop);
    await eventually("the portal has answered twice", () => network.posts.length > 1);
    await laptop.lost(3);
    assert.equal(await laptop.taps(), 3);
    assert.equal(await laptop.card("Blue Monday").getByText(laptop.t.tap_unsent).count(), 1);
    network.restore();
    await booth.haveEffect(ACCEPTED);
    await laptop.answered();
    await laptop.live();
    await booth.haveMoney({ open: 3 });
  });
}

for (const status of [429, 503]) {
  test(`a tap that was answered with ${status} waits as long as the service asks for`, async (scene) => {
    const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
    const { network } = booth;
    const laptop = await booth.laptop({ clock: false });
    const seconds = 2;
    const refuse = (_, response) => {
      network.restore();
      response.writeHead(status, { "Retry-After": seconds, "X-Cuepoint-Part": "1" }).end("<p>Later</p>");
    };
    network.replaceService(refuse, ({ method }) => method === "POST");
    await laptop.tap("Blue Monday", "accept");
    await laptop.connection(`${laptop.t.connection_live}, ${laptop.t.one_tap_unsent}`);
    await booth.haveEffect({ "Blue Monday": ["accepted"] });
    await laptop.answered();
    const [first, second] = network.posts;
    // Without the header, the script waits for a second at most.
    assert.ok(second.at - first.at >= seconds * 1000 - 100, `${second.at - first.at} ms`);
  });
}

test("a service that does not answer a tap for eight seconds counts as lost", async (scene) => {
  const booth = await prepareBooth(scene, { songs: ["Blue Monday"] });
  const laptop = await booth.laptop();
  const release = booth.network.holdForms();
  await laptop.tap("Blue Monday", "accept");
  await eventually("the tap is on its way", () => booth.network.posts.length === 1);
  await laptop.clock.fastForward(8000);
  await laptop.lost(1);
  release();
  await laptop.clock.fastForward(1000);
  await booth.haveEffect({ "Blue Monday": ["accepted"] });
  await laptop.answered();
  await laptop.live();
});

// A booth whose DJ can be suspended.
async function suspendableBooth(scene, songs) {
  const booth = await prepareBooth(scene, { settings: OPERATOR_SETTINGS, ...songs });
  const { access_token: token } = await booth.service.call("POST", "/auth/login", { body: OPERATOR });
  const set = (action) =>
    booth.service.call("POST", `/operator/users/${booth.dj.id}/${action}`, { token, body: { reason: "as agreed" } });
  return { booth, suspend: () => set("suspend"), restore: () => set("restore") };
}

test("a suspended DJ loses the booth within two seconds", async (scene) => {
  const { booth, suspend } = await suspendableBooth(scene, { songs: ["Blue Monday"] });
  const laptop = await booth.laptop({ clock: false });
  const tab = await laptop.visitor.open();
  await suspend();
  await eventually("the booth is refused", async () => (await tab.goto("/booth")).status() === 403, 2000);
  assert.equal(await tab.locator("[data-card]").count(), 0);
  // The open page reads its part after a random wait.
  await laptop.page.getByRole("heading", { name: laptop.t.suspended_title }).waitFor();
  assert.equal(await laptop.page.locator("[data-card]").count(), 0);
});

test("a tap of a suspended DJ is refused at once and for good, and the page says why", async (scene) => {
  const { booth, suspend, restore } = await suspendableBooth(scene, { songs: ["Blue Monday"] });
  const { network } = booth;
  const laptop = await booth.laptop();
  const { t } = laptop;
  // The page learns of the suspension only by the answer to the tap.
  network.replaceService(({ socket }) => socket.destroy(), ({ url }) => url.startsWith("/booth/live"));
  await suspend();
  await laptop.tap("Blue Monday", "accept");
  await laptop.notices(`${t.suspended_title}. ${t.nothing_moved} ${t.suspended_advice}`);
  assert.equal(await laptop.taps(), 0);
  network.restore();
  await restore();
  await booth.logInAgain();
  // The suspension ends the gig, and releases the fee.
  assert.ok(!(await booth.effects())["Blue Monday"].includes("accepted"));
  assert.equal(network.posts.filter(({ path }) => path === "/booth/accept").length, 1);
});
