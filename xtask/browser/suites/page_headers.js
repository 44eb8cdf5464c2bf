// What the service sends with a page, and how much.

import assert from "node:assert/strict";

import { openGig } from "../harness/evening.js";
import { test } from "../harness/scene.js";
import { HEADERS } from "../harness/static_server.js";

const KILOBYTE = 1024;

test("pages of the service have the headers with which the gallery is tested", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const { code } = await openGig(service);
  const response = await fetch(`${service.url}/g/${code}`);
  assert.equal(response.status, 200);
  for (const [name, value] of Object.entries(HEADERS)) assert.equal(response.headers.get(name), value, name);
});

test("a page for guests is 30 kilobytes at most, and its style and script are 16", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const { code } = await openGig(service);
  const phone = await scene.phone({ base: service.url });
  const weights = [];
  phone.page.on("requestfinished", async (request) => {
    const { responseBodySize } = await request.sizes();
    weights.push({ kind: request.resourceType(), size: responseBodySize });
  });
  await phone.page.goto(`/g/${code}`, { waitUntil: "networkidle" });
  const sum = (kinds) =>
    weights.filter(({ kind }) => kinds === undefined || kinds.includes(kind)).reduce((all, { size }) => all + size, 0);
  assert.ok(sum(["stylesheet"]) > 0 && sum(["document"]) > 0, JSON.stringify(weights));
  assert.ok(sum(["stylesheet", "script"]) <= 16 * KILOBYTE, JSON.stringify(weights));
  assert.ok(sum() <= 30 * KILOBYTE, JSON.stringify(weights));
  // The first window of a connection.
  assert.ok(sum(["document", "stylesheet"]) <= 14 * KILOBYTE, JSON.stringify(weights));
});
