// The documentation of the API, which the service serves to browsers.

import { test } from "../harness/scene.js";

test("the documentation of the API lists its operations, and violates no policy", async (scene) => {
  const service = await scene.service({ isDurable: false });
  const reader = await scene.visitor({ base: service.url, width: 1280 });
  await reader.page.goto("/docs");
  // Swagger UI renders a document of a megabyte, which takes seconds on a busy machine.
  await reader.page.getByText("/api/v1/auth/register", { exact: true }).first().waitFor({ timeout: 40_000 });
});
