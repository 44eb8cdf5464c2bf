// Every page in every state with made-up content, as files of the crate of pages.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { options } from "../harness/options.js";
import { test } from "../harness/scene.js";
import { serve, stop } from "../harness/static_server.js";

const WIDTHS = [320, 390, 768, 1280];
const SCHEMES = ["light", "dark"];
const LANGUAGES = ["en", "de"];

// Files are named after page, state and language, such as `guest-paused-de.html`.
const names = readdirSync(options.gallery)
  .map((file) => file.match(/^(.+)-en\.html$/)?.[1])
  .filter((name) => name !== undefined)
  .sort();
if (names.length === 0) throw new Error(`${options.gallery} contains no page`);

// Sheets of paper and a layer of a video have a fixed size, and are seen on a large screen alone.
const FIXED = /^(poster|overlay)-/;

// Declares the test of one file.
function declare(name, { language, scheme, width, ...settings }, variant = "") {
  test(`${name} has no defect in ${language}, ${scheme}, at ${width} px${variant && `, ${variant}`}`, async (scene) => {
    const server = await serve(options.gallery);
    scene.atEnd(() => stop(server));
    const visitor = await scene.visitor({ base: server.url, language, scheme, width, ...settings });
    await visitor.page.goto(`/${name}-${language}.html`);
    await visitor.see(variant ? `${name}-${variant.replaceAll(" ", "-")}` : name);
  });
}

// Every combination of language, colour scheme and width.
const combinations = LANGUAGES.flatMap((language) =>
  SCHEMES.flatMap((scheme) => WIDTHS.map((width) => ({ language, scheme, width }))),
);
// The variants of a page beyond the combinations.
const VARIANTS = [
  ["text of twice the size", { textScale: 2, width: 390 }],
  ["forced colours", { forcedColors: "active", width: 390 }],
  ["no script", { script: false, width: 390 }],
];

// The number of pages that are seen in more variants: those with most elements. The name of a state begins with that of its
// page.
const LARGE = 10;

function largest() {
  const sizes = names.map((name) => {
    const html = readFileSync(join(options.gallery, `${name}-en.html`), "utf8");
    return { name, page: name.split("-")[0], elements: html.match(/<[a-z]/g).length };
  });
  const seen = new Set();
  const states = sizes.filter(({ name }) => !FIXED.test(name)).sort((a, b) => b.elements - a.elements);
  return states.filter(({ page }) => !seen.has(page) && seen.add(page)).slice(0, LARGE);
}

if (options.all) {
  for (const name of names) {
    const possible = combinations.filter(({ width }) => !FIXED.test(name) || width === 1280);
    for (const combination of possible) declare(name, combination);
    if (FIXED.test(name)) continue;
    for (const [variant, settings] of VARIANTS) {
      for (const language of LANGUAGES) declare(name, { language, scheme: "light", ...settings }, variant);
    }
  }
} else {
  // German words are the longer ones.
  for (const [number, name] of names.entries()) {
    declare(name, { language: "de", scheme: SCHEMES[number % 2], width: FIXED.test(name) ? 1280 : 320 });
  }
  for (const { name } of largest()) {
    for (const scheme of SCHEMES) declare(name, { language: "en", scheme, width: 390 });
    for (const width of [768, 1280]) declare(name, { language: "de", scheme: "light", width });
    for (const [variant, settings] of VARIANTS) {
      declare(name, { language: "en", scheme: "light", ...settings }, variant);
    }
  }
}
