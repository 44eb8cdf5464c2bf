// Pages of a gig that goes on, with forced colours and with text of twice the size.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { options } from "../harness/options.js";
import { guestWithMoney, guestWithRequests, logIn, requestOf } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { readingOrder, unclearControls } from "../harness/screen_reader.js";

// Every page with its reader, who is a DJ, a guest or nobody.
const PAGES = {
  guest: ({ mia, dj }) => [`/g/${dj.code}`, mia],
  booth: ({ dj }) => ["/booth", dj],
  wallet: ({ mia }) => ["/wallet", mia],
  display: ({ dj }) => [`/g/${dj.code}/display`],
  login: () => ["/login"],
  payment: ({ mia, topup }) => [`/topups/${topup.reference}`, mia],
};

const VARIANTS = [
  ["forced colours", { forcedColors: "active" }],
  ["text of twice the size", { textScale: 2 }],
];
const WIDTHS = [320, 390, 768, 1280];
const SCHEMES = ["light", "dark"];

const combinations = VARIANTS.flatMap(([variant, settings]) =>
  WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ variant, width, scheme, settings }))),
);

// Texts that end with an ellipsis, although none of them is long.
const cutTexts = (page) =>
  page.locator("main p, main h3").evaluateAll((texts) => {
    const isCut = (text) => getComputedStyle(text).overflow === "hidden" && text.scrollHeight > text.clientHeight + 2;
    return texts.filter((text) => text.clientHeight > 1 && isCut(text)).map(({ textContent }) => textContent);
  });

function declare({ variant, width, scheme, settings }, names) {
  test(`${names.join(", ")} of a live gig have no defect with ${variant}, ${scheme}, at ${width} px`, async (scene) => {
    const service = await scene.service({ isDurable: false, settings: { TOPUPS__SANDBOX: "page" } });
    const dj = await openGig(service, { max_open_per_guest: 10 });
    const mia = await guestWithRequests(service, dj);
    await requestOf(service, mia, dj, "Elegia");
    const { topup } = await service.call("POST", "/wallet/topups", { token: mia.token, body: { amount: 20 } });
    for (const name of names) {
      const visitor = await scene.visitor({ base: service.url, width, scheme, ...settings });
      const [path, reader] = PAGES[name]({ mia, dj, topup });
      if (reader) await logIn(service, visitor, reader);
      await visitor.page.goto(path);
      assert.deepEqual(await cutTexts(visitor.page), [], `the texts of ${path}`);
      await visitor.see(`live-${name}-${variant.replaceAll(" ", "-")}`);
      assert.deepEqual(unclearControls(await readingOrder(visitor.page)), [], `the controls of ${path}`);
    }
  });
}

for (const language of ["en", "de"]) {
  test(`a phone shows four new requests of the booth at once, in ${language}`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const dj = await openGig(service, { max_open_per_guest: 10 });
    const mia = await guestWithMoney(service, "Mia");
    for (const song of ["Blue Monday", "Ceremony", "Dream Attack", "Elegia", "Fine Time"]) await requestOf(service, mia, dj, song);
    const phone = await scene.phone({ base: service.url, language });
    const { page } = phone;
    await logIn(service, phone, dj);
    await page.goto("/booth");
    const cards = page.locator("#new-list [data-card]");
    await cards.first().evaluate((card) => card.scrollIntoView());
    const ends = await cards.evaluateAll((all) => all.map((card) => card.getBoundingClientRect().bottom));
    assert.ok(ends[3] <= page.viewportSize().height, `${ends}`);
    const buttons = await cards.first().locator("button:visible, .more summary").evaluateAll((all) =>
      all.map((button) => button.getBoundingClientRect()).map(({ width, height }) => Math.min(width, height)));
    assert.deepEqual(buttons.filter((size) => size < 48), []);
    assert.equal(buttons.length, 3);
  });
}

if (options.all) {
  for (const combination of combinations) declare(combination, Object.keys(PAGES));
} else {
  // Every page once, at a width and in a variant that changes most of it.
  const [smallForced, largeForced, smallText, largeText] = [0, 7, 8, 15].map((place) => combinations[place]);
  declare(smallForced, ["login", "payment"]);
  declare(largeForced, ["display"]);
  declare(smallText, ["guest", "booth"]);
  declare(largeText, ["wallet"]);
}
