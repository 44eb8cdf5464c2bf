// The options with which `cargo xtask browser` and `cargo xtask screenshots` start a program.

import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    // The program of Chromium.
    chromium: { type: "string" },
    // The folder of the installed npm packages.
    packages: { type: "string" },
    // The folder for screenshots and logs.
    results: { type: "string" },
    // The program of the service.
    service: { type: "string" },
    // The folder with the files of the gallery.
    gallery: { type: "string" },
    // Whether each page is seen at every width, in every colour scheme and language.
    all: { type: "boolean", default: false },
    // Only tests with this text in their names run.
    filter: { type: "string", default: "" },
    // The address of a running service.
    url: { type: "string" },
    // The code of a gig.
    code: { type: "string" },
    // The e-mail addresses of the gig's DJ and of a guest.
    dj: { type: "string" },
    guest: { type: "string" },
    // The password of both.
    password: { type: "string" },
  },
});

export const options = values;

// Fails if one of these options is missing.
export function need(...names) {
  const missing = names.filter((name) => options[name] === undefined);
  if (missing.length > 0) throw new Error(`missing options: ${missing.map((name) => `--${name}`).join(", ")}`);
}
