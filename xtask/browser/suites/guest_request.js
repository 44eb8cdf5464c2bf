// From the scanned code to the accepted request, on a new phone.

import assert from "node:assert/strict";

import { openGig, queueOf, requestSong } from "../harness/evening.js";
import { guestWithMoney, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

// A request in four interactions, and the answer of the DJ, which the guest sees after `refresh`.
async function requestAndAnswer(scene, { language, script, suffix, refresh }) {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const phone = await scene.phone({ base: service.url, language, script });
  const t = textsOf(language);
  await requestSong(phone, dj.code, { title: "Blue Monday", artist: "New Order", name: "Ada" });
  await phone.page.getByText(t.state_pending).first().waitFor();
  await phone.see(`live-requested-${suffix}`);
  const [open] = await eventually("the request is in the queue", async () => {
    const queue = await queueOf(service, dj);
    return queue.length > 0 && queue;
  });
  assert.equal(open.request.song_title, "Blue Monday");
  assert.equal(open.guest.name, "Ada");
  const path = `/music/requests-update/${open.request.id}`;
  await service.call("PATCH", path, { token: dj.token, body: { status: "accepted" } });
  await refresh(phone.page);
  await phone.page.getByText(t.state_accepted, { exact: true }).first().waitFor();
  await phone.see(`live-accepted-${suffix}`);
}

for (const language of ["en", "de"]) {
  for (const script of [true, false]) {
    const suffix = script ? "script" : "no-script";
    const variant = `${language}, ${script ? "with scripts" : "without scripts"}`;
    test(`a new guest requests a free song in four interactions, in ${variant}`, (scene) =>
      requestAndAnswer(scene, { language, script, suffix, refresh: (page) => page.reload() }));
  }

  test(`the answer of the DJ appears without a reload, in ${language}`, (scene) =>
    requestAndAnswer(scene, { language, script: true, suffix: "part", refresh: () => {} }));
}

for (const script of [true, false]) {
  test(`the offers follow the kind of song, and a chosen one stays, ${script ? "with" : "without"} scripts`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const dj = await openGig(service, { popular: 10, upcoming: 4, asks_kind: true });
    for (const [name, artist_type, fee] of [["Mia", "popular", 17], ["Ida", "popular", 10], ["Ben", "upcoming", 5]]) {
      await requestOf(service, await guestWithMoney(service, name), dj, `Song of ${name}`, { artist_type, fee });
    }
    const { page } = await scene.phone({ base: service.url, script });
    const t = textsOf("en");
    await page.goto(`/g/${dj.code}`);
    const offers = () => page.locator("#offer [name=offer]:visible").evaluateAll((inputs) => inputs.map(({ value }) => value));
    assert.deepEqual(await offers(), ["price", "15.00", "20.00"]);
    await page.getByText(t.upcoming_artist).click();
    assert.deepEqual(await offers(), ["price", "6.00"]);
    await page.getByText(t.popular_song).click();
    await page.locator('#offer input[value="15.00"]').check();
    await page.getByText(t.upcoming_artist).click();
    assert.deepEqual(await offers(), ["price", "15.00", "6.00"]);
    await page.getByText(t.the_price).click();
    assert.deepEqual(await offers(), ["price", "6.00"]);
  });
}

test("a card says that its money is back, although the board does not change", async (scene) => {
  const settings = { GIGS__PENDING_TTL_SECONDS: 1, REQUESTS__SWEEP_INTERVAL_SECONDS: 3600 };
  const service = await scene.service({ isDurable: false, settings });
  const dj = await openGig(service, { popular: 10 });
  const mia = await guestWithMoney(service, "Mia", 15);
  const { id } = await requestOf(service, mia, dj, "Blue Monday");
  await eventually("the request has expired", async () => {
    const { status } = await service.call("GET", `/music/requests/${id}`, { token: mia.token });
    return status === "expired";
  });
  const phone = await scene.phone({ base: service.url });
  const { page } = phone;
  await logIn(service, phone, mia);
  await phone.context.clock.install();
  const stream = page.waitForResponse(/\/stream$/);
  await page.goto(`/g/${dj.code}`);
  await stream;
  await page.getByText("10.00 USD comes back to your wallet in a moment.").waitFor();
  // A payout of more than is available releases the fee.
  const body = { amount: 12, currency: "BTC", network: "bitcoin", wallet_address: "bc1q" };
  await service.call("POST", "/withdrawal/crypto", { token: mia.token, body });
  await phone.context.clock.runFor(11_000);
  await page.getByText("10.00 USD returned to your wallet.").waitFor();
});
