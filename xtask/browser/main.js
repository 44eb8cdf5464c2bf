// Runs the suites in Chromium; `cargo xtask browser` starts this program.

import { after, describe, it } from "node:test";

import { need, options } from "./harness/options.js";
import { tests } from "./harness/scene.js";
import { quit } from "./harness/visitor.js";

need("chromium", "packages", "service", "gallery", "results");

// The files in `suites/`. Each of them runs.
const SUITES = [
  "gallery",
  "live_pages",
  "hostile_texts",
  "api_documentation",
  "page_headers",
  "first_visitors",
  "payouts",
  "guest_request",
  "paid_request",
  "closed_gigs",
  "consent",
  "questions",
  "places",
  "evening",
  "unsent_taps",
  "taps_in_company",
  "busy_booth",
  "refused_taps",
  "cross_site",
  "display",
  "layout",
  "notices",
  "keyboard",
  "booth_keyboard",
  "screen_reader",
];

// The number of tests that run at a time, except those that run alone.
const CONCURRENCY = 2;

for (const suite of SUITES) await import(`./suites/${suite}.js`);

const chosen = tests.filter(({ name }) => name.includes(options.filter));
if (chosen.length === 0) throw new Error(`no name of a test contains "${options.filter}"`);
if (chosen.length < tests.length) console.log(`${chosen.length} of ${tests.length} tests contain "${options.filter}"`);

const declare = (isMeant) => chosen.filter(isMeant).forEach(({ name, run }) => it(name, run));
describe("pages in Chromium", { concurrency: CONCURRENCY }, () => declare(({ alone }) => !alone));
describe("times in Chromium", { concurrency: 1 }, () => declare(({ alone }) => alone));
after(quit);
