// The npm packages, which are installed outside of the repository.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { options } from "./options.js";

const require = createRequire(join(options.packages, "package.json"));

export const { chromium } = require("playwright-core");

// The source of the accessibility rules.
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
