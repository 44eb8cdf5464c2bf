// The texts of the pages, read from the crate that contains them, so that tests repeat none of them.

import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("../../../crates/pages/src/texts/", import.meta.url);

// A text without parameters, in English and German.
const ENTRY = /(\w+)\(\):\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)";/g;

const texts = { en: {}, de: {} };
for (const file of readdirSync(FOLDER)) {
  for (const [, name, english, german] of readFileSync(new URL(file, FOLDER), "utf8").matchAll(ENTRY)) {
    texts.en[name] = english;
    texts.de[name] = german;
  }
}

// The texts of a language by their names. An unknown name is an error.
export function textsOf(language) {
  return new Proxy(texts[language], {
    get(all, name) {
      if (!(name in all)) throw new Error(`no text without parameters has the name ${String(name)}`);
      return all[name];
    },
  });
}
