// Visitors of a service without an operator, and visitors who type an address.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";
import { eventually } from "../harness/wait.js";

const COMMAND = "cuepoint operator add EMAIL";

// What the start page offers to the first operator: the way to the form, or the command.
async function offered({ page, language }) {
  const t = textsOf(language);
  await page.goto("/");
  await page.getByRole("heading", { name: t.slogan }).waitFor();
  const links = await page.getByRole("link", { name: t.begin_as_operator }).count();
  const commands = await page.getByText(COMMAND, { exact: true }).count();
  const panels = await page.getByText(t.no_operator).count();
  assert.equal(panels, links + commands);
  return { links, commands };
}

// A visitor whose requests a proxy on the machine of the service passes on.
async function throughProxy(scene, service) {
  const visitor = await scene.phone({ base: service.url });
  await visitor.context.setExtraHTTPHeaders({ "X-Forwarded-For": "192.168.1.20" });
  return visitor;
}

test("on a terminal, the start page leads the first operator to the form until the code is used", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false, hasTerminal: true });
  const code = await eventually("the code is shown", () => service.said.match(/^ {4}([\w-]{43})\s*$/m)?.[1]);
  const local = await scene.visitor({ base: service.url, width: 1280 });
  const phone = await throughProxy(scene, service);
  assert.deepEqual(await offered(local), { links: 1, commands: 0 });
  assert.deepEqual(await offered(phone), { links: 0, commands: 0 });
  await local.see("first-operator-on-a-terminal");
  await local.page.getByRole("link", { name: t.begin_as_operator }).click();
  const fields = [[t.terminal_code, code], [t.name, "Ada"], [t.email, "ada@example.com"], [t.password, "only for this run"]];
  for (const [label, value] of fields) await local.page.getByLabel(label, { exact: true }).fill(value);
  await local.page.locator("main form button").click();
  await local.page.getByRole("link", { name: t.account, exact: true }).waitFor();
  assert.deepEqual(await offered(local), { links: 0, commands: 0 });
});

for (const language of ["en", "de"]) {
  test(`without a terminal, the start page names the command on the machine alone, in ${language}`, async (scene) => {
    const service = await scene.service({ isDurable: false });
    const local = await scene.phone({ base: service.url, language });
    assert.deepEqual(await offered(local), { links: 0, commands: 1 });
    await local.see("first-operator-without-a-terminal");
    assert.deepEqual(await offered(await throughProxy(scene, service)), { links: 0, commands: 0 });
  });
}

test("a typed code leads to its gig, and any other path to the field of the code", async (scene) => {
  const t = textsOf("en");
  const service = await scene.service({ isDurable: false });
  const { code } = await openGig(service);
  const { page } = await scene.phone({ base: service.url });
  for (const typed of [code, code.toLowerCase()]) {
    await page.goto(`/${typed}`);
    assert.equal(new URL(page.url()).pathname, `/g/${code}`);
    await page.getByRole("heading", { name: "DJ Kranich" }).waitFor();
  }
  // A letter that no code has, and a path that other services have.
  for (const path of [`/${code.slice(0, 5)}O`, "/admin"]) {
    const response = await page.goto(path);
    assert.equal(response.status(), 404);
    await page.getByRole("status").filter({ hasText: t.not_found_title }).waitFor();
    await page.getByLabel(t.code, { exact: true }).fill(code.toLowerCase());
    await page.getByRole("button", { name: t.open_code, exact: true }).click();
    await page.waitForURL(`${service.url}/g/${code}`);
  }
});

test("pages have a preview of their link, an icon for home screens and a theme colour", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const { code } = await openGig(service);
  const { page } = await scene.phone({ base: service.url });
  await page.goto(`/g/${code}`);
  const content = (name) => page.locator(`meta[property="og:${name}"]`).getAttribute("content");
  assert.match(await content("title"), /DJ Kranich/);
  assert.ok((await content("description")).length > 20);
  const icon = await page.locator('link[rel="apple-touch-icon"]').getAttribute("href");
  for (const path of [icon, "/favicon.ico"]) {
    const size = await page.evaluate(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, path);
    assert.deepEqual(size, [180, 180], path);
  }
  const ground = await page.evaluate(() => {
    const bars = [...document.querySelectorAll("meta[name=theme-color]")];
    const bar = bars.find(({ media }) => !media || matchMedia(media).matches);
    return [bar.content, getComputedStyle(document.documentElement).getPropertyValue("--ground").trim()];
  });
  assert.equal(ground[0], ground[1]);
});
