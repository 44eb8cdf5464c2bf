// A DJ's booth with requests, in a browser whose network the test controls, and the effects of its taps.

import assert from "node:assert/strict";

import { openGig, queueOf } from "./evening.js";
import { Network } from "./network.js";
import { answer, cancel, logIn, requestOf } from "./queue.js";
import { textsOf } from "./texts.js";
import { eventually } from "./wait.js";

// The time in which a tap can be undone, in milliseconds.
export const UNDO = 4000;

// The fee of each request.
const FEE = 12.5;

// What a guest has before the first request.
const MONEY = 100;

// Opens a gig with a guest's requests for these songs. Those in `accepted` are accepted.
export async function prepareBooth(scene, { songs = [], accepted = [], ...settings }) {
  const service = await scene.service({ isDurable: false, ...settings });
  const dj = await openGig(service, { popular: FEE, max_open_per_guest: 20 });
  const { user, access_token: token } = await service.call("POST", "/auth/guest", { body: { name: "Ada" } });
  const booth = new Booth(scene, service, await Network.to(scene, service), dj, { id: user.id, token });
  await service.call("POST", "/wallet/topups", { token, body: { amount: MONEY } });
  for (const song of [...accepted, ...songs]) await booth.request(song);
  for (const song of accepted) await booth.answer(song, "accepted");
  return booth;
}

// The gig of a DJ.
class Booth {
  #scene;
  #ids = new Map();

  constructor(scene, service, network, dj, guest) {
    this.#scene = scene;
    Object.assign(this, { service, network, dj, guest });
  }

  // Requests a song as the guest.
  async request(song) {
    const { id } = await requestOf(this.service, this.guest, this.dj, song);
    this.#ids.set(song, id);
  }

  // Answers a request as the DJ, in another program.
  answer(song, status) {
    return answer(this.service, this.dj, { id: this.idOf(song) }, status);
  }

  // Cancels a request as the guest.
  cancel(song) {
    return cancel(this.service, this.guest, { id: this.idOf(song) });
  }

  idOf(song) {
    const id = this.#ids.get(song);
    if (id === undefined) throw new Error(`nobody requested ${song}`);
    return id;
  }

  // Begins another session of the DJ, in which the test reads the effects of taps.
  async logInAgain() {
    const { email, password } = this.dj;
    const { access_token: token } = await this.service.call("POST", "/auth/login", { body: { email, password } });
    this.dj.token = token;
  }

  // The laptop of the DJ with the booth, in a new session or with what another browser stored. `clock` makes its time part
  // of the test.
  async laptop({ stored, clock = true } = {}) {
    const visitor = await this.#scene.visitor({ base: this.network.url, width: 1280, scheme: "dark" });
    const laptop = new Laptop(this, visitor);
    // Forms and streams fail while the network is cut.
    visitor.expectProblems(/net::ERR_|the server responded with a status of/);
    if (clock) await setClock(visitor.context);
    await (stored ? visitor.context.setStorageState(stored) : laptop.logIn(this.dj));
    await laptop.open();
    this.network.posts.length = 0;
    return laptop;
  }

  // Waits until the taps had these effects, in their order, such as `{ "Blue Monday": ["accepted", "played"] }`, and
  // fails if another one follows. Other requests had none.
  async haveEffect(expected) {
    const wanted = Object.fromEntries([...this.#ids.keys()].map((song) => [song, expected[song] ?? []]));
    let found;
    await eventually("the taps have their effect", async () => {
      found = await this.effects();
      return JSON.stringify(found) === JSON.stringify(wanted);
    }).catch((error) => {
      error.message += `\n  wanted ${JSON.stringify(wanted)}\n  found ${JSON.stringify(found)}`;
      throw error;
    });
  }

  // What happened to each request, by its song, in the order of events.
  async effects() {
    const effects = Object.fromEntries([...this.#ids.keys()].map((song) => [song, []]));
    const { events } = await this.service.call("GET", "/events", { token: this.dj.token });
    for (const { type, data } of events) {
      const request = data.music_request;
      if (request && type !== "music_request.created") effects[request.song_title].push(type.split(".").at(1));
    }
    return effects;
  }

  // Fails unless the money is where these effects put it.
  async haveMoney({ played = 0, open }) {
    const walletOf = async ({ token }) => (await this.service.call("GET", "/wallet", { token })).wallet;
    const [dj, guest] = [await walletOf(this.dj), await walletOf(this.guest)];
    const sums = { earned: dj.available, held: guest.held, left: guest.available };
    const [earned, held] = [played * FEE, open * FEE];
    assert.deepEqual(sums, { earned, held, left: MONEY - earned - held });
  }

  // The states of the open requests, by song.
  async states() {
    const queue = await queueOf(this.service, this.dj);
    return Object.fromEntries(queue.map(({ request }) => [request.song_title, request.status]));
  }
}

// Makes the time of pages part of the test, with the limits of their requests.
async function setClock(context) {
  await context.clock.install();
  await context.addInitScript(() => {
    AbortSignal.timeout = (limit) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException("the time is over", "TimeoutError")), limit);
      return controller.signal;
    };
  });
}

// Returns no texts if the error says that the browser was leaving the page.
function passNavigation(error) {
  if (error.message.includes("because of a navigation")) return [];
  throw error;
}

// A browser of the DJ.
export class Laptop {
  constructor(booth, visitor, page = visitor.page) {
    Object.assign(this, { booth, visitor, page, t: textsOf(visitor.language) });
  }

  get clock() {
    return this.visitor.context.clock;
  }

  // Stops the clock of the browser, so that no time passes between taps.
  async stopClock() {
    const now = await this.page.evaluate(() => Date.now());
    await this.clock.pauseAt(now + 1000);
  }

  // Stops the animations, and returns the function that lets them go on. What has moved rests while they are stopped.
  async stopAnimations() {
    const session = await this.visitor.context.newCDPSession(this.page);
    await session.send("Animation.enable");
    const setRate = (playbackRate) => session.send("Animation.setPlaybackRate", { playbackRate });
    await setRate(0);
    return () => setRate(1);
  }

  logIn(user) {
    return logIn(this.booth.network, this.visitor, user);
  }

  async open() {
    await this.page.goto("/booth");
    await this.live();
  }

  // The booth in another tab.
  async tab() {
    const tab = new Laptop(this.booth, this.visitor, await this.visitor.open());
    await tab.open();
    return tab;
  }

  card(song) {
    return this.page.locator(`#request-${this.booth.idOf(song)}`);
  }

  // The button of an answer: `accept`, `reject` or `played`.
  button(song, answer) {
    return this.card(song).locator(`[data-tap="${answer}"]`).getByRole("button");
  }

  tap(song, answer) {
    return this.button(song, answer).click();
  }

  // The button that takes a tap back.
  undo(song) {
    return this.card(song).locator("[data-state]").getByRole("button", { name: this.t.undo_tap });
  }

  // Waits until a text of the booth matches.
  async #says(selector, expected) {
    const place = this.page.locator(selector);
    let text;
    const matches = async () => {
      // A page that is being left says nothing.
      const texts = await place.allInnerTexts().catch(passNavigation);
      text = texts.join("\n").replaceAll("\u00a0", " ");
      return typeof expected === "string" ? text === expected : expected.test(text);
    };
    await eventually(`${selector} says ${expected}`, matches).catch((error) => {
      error.message += `, but "${text}"`;
      throw error;
    });
  }

  // Waits until the header shows this about the connection.
  connection(expected) {
    return this.#says("[data-connection]", expected);
  }

  live() {
    return this.connection(this.t.connection_live);
  }

  // Waits until the booth shows that the network is lost, and how many taps wait for it.
  lost(taps) {
    const [before, after] = this.t.reconnecting_since.split("{time}");
    const unsent = taps === 1 ? this.t.one_tap_unsent : this.t.taps_unsent.replace("{n}", taps);
    return this.connection(new RegExp(`^${before}\\d\\d:\\d\\d${after}${taps ? `, ${unsent}` : ""}$`));
  }

  // Waits until the booth says what a tap did.
  said(expected) {
    return this.#says("[data-said]", expected);
  }

  // Waits until the notices have these texts, which stay until they are closed.
  notices(expected) {
    return this.#says("[data-messages] .notice p", expected);
  }

  // The taps that the browser stores.
  taps() {
    return this.page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("cuepoint-tap:")).length);
  }

  // Waits until every tap was answered. None came too late, such as the repetition of a tap with another key.
  async answered() {
    await eventually("every tap was answered", async () => (await this.taps()) === 0);
    assert.deepEqual(this.booth.network.posts.filter(({ status }) => status === 409), []);
  }
}
