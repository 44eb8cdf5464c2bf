// Pages of other sites, which must neither post, frame nor read.

import assert from "node:assert/strict";
import { createServer } from "node:http";

import { openGig, queueOf } from "../harness/evening.js";
import { test } from "../harness/scene.js";

// A server of one page, under another name of this machine than that of the service.
async function foreignSite(scene, html) {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  scene.atEnd(() => new Promise((closed) => (server.closeAllConnections(), server.close(closed))));
  return `http://localhost:${server.address().port}/`;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

test("a form on a page of another site requests no song", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service, { popular: 0, upcoming: 0 });
  const phone = await scene.phone({ base: service.url });
  await phone.page.goto(`/g/${dj.code}`);
  const fields = await phone.page.locator("form input").evaluateAll((inputs) =>
    inputs.filter((input) => !["radio", "checkbox"].includes(input.type) || input.checked)
      .map(({ name, value }) => [name, value]));
  const values = { ...Object.fromEntries(fields), song_title: "Blue Monday", artist_name: "New Order", name: "Ada" };
  const inputs = Object.entries(values).map(([name, value]) => `<input name="${name}" value="${escaped(value)}">`);
  const action = `${service.url}/g/${dj.code}/requests`;
  const site = await foreignSite(
    scene,
    `<!doctype html><title>Foreign</title><form method="post" action="${action}">${inputs.join("")}<button>Send</button></form>`,
  );
  await phone.page.goto(site);
  const answered = phone.page.waitForResponse(action);
  await phone.page.getByRole("button", { name: "Send" }).click();
  assert.equal((await answered).status(), 403);
  await phone.page.getByRole("heading", { level: 1 }).waitFor();
  assert.deepEqual(await queueOf(service, dj), []);
  assert.deepEqual(await phone.context.cookies(service.url), []);
});

test("a page of another site cannot frame a page", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const phone = await scene.phone({ base: service.url });
  const site = await foreignSite(
    scene,
    `<!doctype html><title>Foreign</title><iframe src="${service.url}/g/${dj.code}"></iframe>`,
  );
  phone.expectProblems(/frame-ancestors|Framing|frame/);
  await phone.page.goto(site, { waitUntil: "load" });
  const button = phone.page.frameLocator("iframe").locator("#request button");
  assert.equal(await button.count(), 0);
});

test("a page of another site cannot read a page", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const dj = await openGig(service);
  const phone = await scene.phone({ base: service.url });
  const site = await foreignSite(scene, "<!doctype html><title>Foreign</title>");
  phone.expectProblems(/CORS|net::ERR_FAILED/);
  await phone.page.goto(site);
  const read = phone.page.evaluate(
    (address) => fetch(address, { credentials: "include" }).then((answer) => answer.text()).catch(() => "refused"),
    `${service.url}/g/${dj.code}`,
  );
  assert.equal(await read, "refused");
});
