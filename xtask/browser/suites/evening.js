// The evening of a DJ at the laptop with guests at their phones, from the registration to the report.

import assert from "node:assert/strict";

import { requestSong } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

// Registers a DJ in the browser and opens a gig. Returns the code of the poster.
async function openGig(dj) {
  const t = textsOf(dj.language);
  await dj.page.goto("/");
  await dj.page.getByRole("link", { name: t.register_as_dj }).click();
  await dj.page.getByLabel(t.name, { exact: true }).fill("DJ Kranich");
  await dj.page.getByLabel(t.email, { exact: true }).fill("dj@example.com");
  await dj.page.getByLabel(t.password, { exact: true }).fill("only for this run");
  await dj.page.getByRole("button", { name: t.register, exact: true }).click();
  await dj.page.getByLabel(t.gig_title, { exact: true }).fill("Friday Night Vinyl");
  await dj.page.getByLabel(t.price_of_song, { exact: true }).fill(dj.language === "de" ? "12,50" : "12.50");
  await dj.see("evening-open-gig");
  await dj.page.getByRole("button", { name: t.open_gig, exact: true }).click();
  await dj.page.getByText(t.no_new_requests, { exact: true }).waitFor();
  const poster = await dj.page.getByRole("link", { name: t.poster_link, exact: true }).first().getAttribute("href");
  const shown = await dj.open();
  await shown.goto(poster);
  const [code] = (await shown.locator("main, body").first().innerText()).match(/\b[2-9B-DF-HJ-NP-TV-Z]{6}\b/);
  await shown.close();
  return code;
}

// Requests a song at the price of the page. The payment provider of the sandbox pays at once.
async function request(phone, code, title, name) {
  await requestSong(phone, code, { title, artist: "New Order", name });
  await phone.page.getByRole("heading", { name: title }).first().waitFor();
}

// The card of a song in the booth.
function card(dj, title) {
  return dj.page.locator(".card, [data-card]").filter({ hasText: title }).first();
}

for (const script of [true, false]) {
  test(`a DJ takes two guests through an evening, ${script ? "with scripts" : "without scripts"}`, async (scene) => {
    const service = await scene.service();
    const dj = await scene.visitor({ base: service.url, width: 1280, scheme: "dark", script });
    const t = textsOf("en");
    const code = await openGig(dj);
    const mia = await scene.phone({ base: service.url, language: "de", script });
    const ben = await scene.phone({ base: service.url, script });
    await request(mia, code, "Blue Monday", "Mia");
    await request(ben, code, "Age of Consent", "Ben");
    if (!script) await dj.page.reload();
    await card(dj, "Blue Monday").waitFor();
    await card(dj, "Age of Consent").waitFor();
    await dj.see(`evening-booth-${script ? "script" : "no-script"}`);

    await card(dj, "Blue Monday").getByRole("button", { name: `${t.accept_request} Blue Monday`, exact: true }).click();
    if (!script) await mia.page.reload();
    await eventually("Mia sees that the song is accepted", async () => {
      if (!script) await mia.page.reload();
      return (await mia.page.getByText(textsOf("de").state_accepted, { exact: true }).count()) > 0;
    });

    if (!script) await card(dj, "Blue Monday").getByText(t.played_or_reject, { exact: true }).click();
    await card(dj, "Blue Monday").getByRole("button", { name: `${t.mark_played} Blue Monday`, exact: true }).click();
    await eventually("Mia sees that the song was played", async () => {
      if (!script) await mia.page.reload();
      return (await mia.page.getByText(textsOf("de").state_played, { exact: true }).count()) > 0;
    });
    await mia.see(`evening-played-${script ? "script" : "no-script"}`);

    const wall = await scene.visitor({ base: service.url, width: 1280, scheme: "dark", script });
    await wall.page.goto(`/g/${code}/display`);
    await wall.page.getByText("Blue Monday").first().waitFor();
    assert.deepEqual(await wall.context.cookies(), [], "a display has no cookie");
  });
}
