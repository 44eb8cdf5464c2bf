// The pictures of README, made while an evening goes on; `cargo xtask screenshots` starts this program.

import { join } from "node:path";

import { need, options } from "./harness/options.js";
import { textsOf } from "./harness/texts.js";
import { quit, Visitor } from "./harness/visitor.js";

need("chromium", "packages", "results", "url", "code", "dj", "guest", "password");

// Keeps a picture of the visible part of a page, seen by this visitor after a login with the e-mail address.
async function picture(name, path, { email, height, ...settings }) {
  const visitor = await Visitor.arrive({ base: options.url, ...settings });
  const { page, width } = visitor;
  await page.setViewportSize({ width, height });
  // The clock of the service runs ahead, so that the browser would show wrong times.
  await page.clock.setSystemTime(await timeOfService());
  if (email) await logIn(visitor, email);
  await page.goto(path);
  await page.locator("main").waitFor();
  await page.screenshot({ path: join(options.results, `${name}.png`) });
  visitor.checkProblems();
  await visitor.leave();
}

// The time at which the service issues an access token.
async function timeOfService() {
  const response = await fetch(`${options.url}/api/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: options.dj, password: options.password }),
  });
  const { data } = await response.json();
  const [, claims] = data.access_token.split(".");
  return JSON.parse(Buffer.from(claims, "base64url").toString()).iat * 1_000;
}

async function logIn({ language, page }, email) {
  const t = textsOf(language);
  await page.goto("/login");
  await page.getByLabel(t.email, { exact: true }).fill(email);
  await page.getByLabel(t.password, { exact: true }).fill(options.password);
  await page.getByRole("button", { name: t.log_in, exact: true }).click();
  await page.waitForURL((url) => url.pathname !== "/login");
}

await picture("guest", `/g/${options.code}`, { email: options.guest, width: 390, height: 800, pixelRatio: 2 });
await picture("booth", "/booth/live", { email: options.dj, width: 1280, height: 800, scheme: "dark" });
await picture("display", `/g/${options.code}/display`, { width: 1280, height: 720, scheme: "dark" });
await quit();
