// Requests of guests without money, who pay on the page of the payment provider.

import assert from "node:assert/strict";

import { openGig, queueOf, sendButton } from "../harness/evening.js";
import { answer, sendForm } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const t = textsOf("en");
const PRICE = "12.50 USD";
const SEND_DRAFT = /^Send the request for 12\.50\sUSD$/;

// A guest on a new phone, who counts the taps.
class Guest {
  taps = 0;

  constructor(service, dj, phone) {
    Object.assign(this, { service, dj, phone, page: phone.page });
  }

  async tap(role, name, page = this.page) {
    this.taps += 1;
    await page.getByRole(role, { name, exact: true }).click();
  }

  // Fills in the form of the gig, and sends it.
  async request() {
    await this.page.goto(`/g/${this.dj.code}`);
    for (const [label, value] of [[t.song_title, "Blue Monday"], [t.artist_name, "New Order"], [t.your_name, "Ada"]]) {
      const field = this.page.getByLabel(label, { exact: true });
      if ((await field.count()) > 0) await field.fill(value);
    }
    this.taps += 1;
    await sendButton(this.page).click();
  }

  // Goes on to the page of the provider, and returns the path there.
  async toProvider() {
    await this.tap("link", `Pay ${PRICE}`);
    await this.page.waitForURL(/\/sandbox\/payments\//);
    return new URL(this.page.url()).pathname;
  }

  // Sees that the confirmed payment sends the request: at once with the script, and with a button without it.
  async sends(page = this.page) {
    if (!this.phone.hasScript) await this.tap("button", SEND_DRAFT, page);
    await page.getByText(t.state_pending, { exact: true }).waitFor();
  }

  // Fails unless the DJ has the request once, and the guest paid for it once.
  async hasRequestedOnce() {
    const queue = await queueOf(this.service, this.dj);
    assert.deepEqual(queue.map(({ request }) => request.song_title), ["Blue Monday"]);
    await this.page.goto("/wallet");
    const balances = await this.page.locator(".balances dd").allInnerTexts();
    assert.deepEqual(balances.map((text) => text.replace("\u00a0", " ")), ["0.00 USD", PRICE]);
  }

  async hasRequestedNothing() {
    assert.deepEqual(await queueOf(this.service, this.dj), []);
  }
}

async function guestOf(scene, settings = {}) {
  const service = await scene.service({ isDurable: false, settings: { TOPUPS__SANDBOX: "page" } });
  const dj = await openGig(service, { popular: 12.5, upcoming: 12.5 });
  return new Guest(service, dj, await scene.phone({ base: service.url, ...settings }));
}

for (const script of [true, false]) {
  const variant = script ? "with scripts" : "without scripts";

  test(`a new guest pays for a request that the DJ accepts, in four taps at most, ${variant}`, async (scene) => {
    const guest = await guestOf(scene, { script });
    await guest.request();
    await guest.toProvider();
    await guest.tap("button", t.sandbox_pay);
    await guest.sends();
    assert.equal(guest.taps, script ? 3 : 4);
    const [{ request }] = await queueOf(guest.service, guest.dj);
    await answer(guest.service, guest.dj, request, "accepted");
    if (!script) await guest.page.reload();
    await guest.page.getByText(t.state_accepted, { exact: true }).first().waitFor();
    await guest.hasRequestedOnce();
  });

  test(`a guest who returns before the confirmation waits, and the request is sent once, ${variant}`, async (scene) => {
    const guest = await guestOf(scene, { script });
    await guest.request();
    const provider = await guest.toProvider();
    await guest.tap("button", t.sandbox_later);
    await guest.page.getByRole("heading", { name: t.waiting_title }).waitFor();
    await guest.hasRequestedNothing();
    await sendForm(guest.service, provider, { outcome: "pay" });
    // A provider repeats its message.
    await sendForm(guest.service, provider, { outcome: "pay" });
    // Without the script, the page is read again every five seconds.
    await guest.sends();
    await guest.hasRequestedOnce();
  });
}

test("a payment that returns twice, in two tabs and by the back button, sends the request once", async (scene) => {
  const guest = await guestOf(scene);
  await guest.request();
  const provider = await guest.toProvider();
  await guest.tap("button", t.sandbox_later);
  const payment = guest.page.url();
  const tab = await guest.phone.open();
  await tab.goto(payment);
  await sendForm(guest.service, provider, { outcome: "pay" });
  // One of them sends the request. The other one finds it sent.
  const [h1, sent] = [(page) => page.getByRole("heading", { level: 1 }), /^(DJ Kranich|The money has arrived)$/];
  for (const page of [guest.page, tab]) {
    await h1(page).filter({ hasText: sent }).waitFor();
    await page.getByRole("button", { name: SEND_DRAFT }).waitFor({ state: "detached" });
  }
  await tab.goto(payment);
  await tab.getByRole("heading", { name: t.confirmed_title }).waitFor();
  await guest.page.goBack();
  await guest.page.getByRole("heading", { name: t.confirmed_title }).waitFor();
  await guest.hasRequestedOnce();
});

test("a guest who never returns finds the money in the wallet, and requests the song once", async (scene) => {
  const guest = await guestOf(scene);
  await guest.request();
  const payment = guest.page.url();
  const provider = await guest.toProvider();
  await sendForm(guest.service, provider, { outcome: "pay" });
  // The guest scans the code again.
  await guest.page.goto(`/g/${guest.dj.code}`);
  await guest.hasRequestedNothing();
  await guest.request();
  await guest.page.getByText(t.state_pending, { exact: true }).waitFor();
  await guest.page.goto(payment);
  await guest.page.waitForLoadState("networkidle");
  await guest.hasRequestedOnce();
});

for (const script of [true, false]) {
  test(`a guest who never returns sends the request from the page of the gig, ${script ? "with scripts" : "without scripts"}`, async (scene) => {
    const guest = await guestOf(scene, { script });
    await guest.request();
    const provider = await guest.toProvider();
    await guest.page.goto(`/g/${guest.dj.code}`);
    await guest.page.getByText(t.draft_unpaid, { exact: true }).waitFor();
    await sendForm(guest.service, provider, { outcome: "pay" });
    await guest.page.goto(`/g/${guest.dj.code}`);
    await guest.hasRequestedNothing();
    await guest.tap("button", SEND_DRAFT);
    await guest.page.getByText(t.state_pending, { exact: true }).waitFor();
    await guest.hasRequestedOnce();
  });
}

test("an unconfirmed payment requests nothing, and a refused one leads to another payment", async (scene) => {
  const guest = await guestOf(scene);
  await guest.request();
  await guest.toProvider();
  await guest.tap("button", t.sandbox_later);
  await guest.page.getByRole("heading", { name: t.waiting_title }).waitFor();
  await guest.hasRequestedNothing();
  await guest.tap("link", t.open_payment_page_again);
  await guest.tap("button", t.sandbox_refuse);
  await guest.page.getByRole("heading", { name: t.failed_title }).waitFor();
  await guest.hasRequestedNothing();
  await guest.tap("button", t.another_payment);
  await guest.toProvider();
  await guest.tap("button", t.sandbox_pay);
  await guest.sends();
  await guest.hasRequestedOnce();
});

test("a request that another tab has sent is not sent again, without scripts", async (scene) => {
  const guest = await guestOf(scene, { script: false });
  await guest.request();
  await guest.toProvider();
  await guest.tap("button", t.sandbox_pay);
  const tab = await guest.phone.open();
  await tab.goto(guest.page.url());
  await guest.sends();
  await tab.getByRole("button", { name: SEND_DRAFT }).click();
  await tab.getByText(t.done_nothing_waits, { exact: true }).waitFor();
  await guest.hasRequestedOnce();
});
