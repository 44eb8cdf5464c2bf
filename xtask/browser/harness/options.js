// The options with which `cargo xtask browser` starts the tests.

import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    // The program of Chromium.
    chromium: { type: "string" },
    // The folder of the installed npm packages.
    packages: { type: "string" },
    // The program of the service.
    service: { type: "string" },
    // The folder with the files of the gallery.
    gallery: { type: "string" },
    // The folder for screenshots and logs.
    results: { type: "string" },
    // Whether each page is seen at every width, in every colour scheme and language.
    all: { type: "boolean", default: false },
    // Only tests with this text in their names run.
    filter: { type: "string", default: "" },
  },
});

for (const name of ["chromium", "packages", "service", "gallery", "results"]) {
  if (values[name] === undefined) throw new Error(`--${name} is missing: run \`cargo xtask browser\``);
}

export const options = values;
