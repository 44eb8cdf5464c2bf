// From the scanned code to the accepted request, on a new phone. The answer appears by itself.

import assert from "node:assert/strict";

import { openGig, queueOf } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

// Fills the form of a first request in four interactions, of which the last one sends it.
async function request(phone, code, { title, artist, name }) {
  const t = textsOf(phone.language);
  await phone.page.goto(`/g/${code}`);
  await phone.page.getByLabel(t.song_title, { exact: true }).fill(title);
  await phone.page.getByLabel(t.artist_name, { exact: true }).fill(artist);
  await phone.page.getByLabel(t.your_name, { exact: true }).fill(name);
  await phone.page.getByRole("button", { name: t.send_request }).click();
}

for (const language of ["en", "de"]) {
  test(`the answer of the DJ appears without a reload, in ${language}`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const dj = await openGig(service, { popular: 0, upcoming: 0 });
    const phone = await scene.phone({ base: service.url, language });
    const t = textsOf(language);
    await request(phone, dj.code, { title: "Blue Monday", artist: "New Order", name: "Ada" });
    await phone.page.getByText(t.state_pending).first().waitFor();
    await phone.see("live-requested-part");
    const [open] = await eventually("the request is in the queue", async () => {
      const queue = await queueOf(service, dj);
      return queue.length > 0 && queue;
    });
    assert.equal(open.request.song_title, "Blue Monday");
    assert.equal(open.guest.name, "Ada");
    const path = `/music/requests-update/${open.request.id}`;
    await service.call("PATCH", path, { token: dj.token, body: { status: "accepted" } });
    await phone.page.getByText(t.state_accepted, { exact: true }).first().waitFor();
    await phone.see("live-accepted-part");
  });
}
