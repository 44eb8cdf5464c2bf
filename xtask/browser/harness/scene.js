// Tests, each with visitors and services of its own, which end with the test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { options } from "./options.js";
import { Service } from "./service.js";
import { fileName } from "./see.js";
import { Visitor } from "./visitor.js";

// The time after which a test has failed unless it names another one, in milliseconds.
const LIMIT = 60_000;

// The tests of all suites, in the order of their declaration.
export const tests = [];

// Declares a test. Its name states the behaviour that it asserts. It fails after `limit` milliseconds.
export function test(name, body, { limit = LIMIT } = {}) {
  if (tests.some((other) => other.name === name)) throw new Error(`two tests have the name: ${name}`);
  tests.push({ name, run: () => run(name, body, limit) });
}

async function run(name, body, limit) {
  const scene = new Scene();
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`the test did not end within ${limit} ms`)), limit);
  });
  try {
    await Promise.race([body(scene), late]);
    scene.visitors.forEach((visitor) => visitor.checkProblems());
  } catch (error) {
    await scene.keepScreenshots(name, error);
    throw error;
  } finally {
    clearTimeout(timer);
    await scene.end();
  }
}

// What one test uses.
class Scene {
  visitors = [];
  #endings = [];

  // A person with a browser of their own: no cookie and no stored value is shared with other visitors.
  async visitor(settings) {
    const visitor = await Visitor.arrive(settings);
    this.#endings.push(() => visitor.leave());
    this.visitors.push(visitor);
    return visitor;
  }

  // A visitor with a phone.
  phone(settings) {
    return this.visitor({ width: 390, ...settings });
  }

  // A running service with these settings, such as `{ TOPUPS__MIN_AMOUNT: "5" }`. It stores its data on SQLite in a
  // temporary folder, or only in memory.
  async service({ settings = {}, isDurable = true } = {}) {
    const folder = await this.folder();
    const service = new Service(folder, settings, isDurable);
    this.#endings.push(() => service.kill());
    await service.start();
    return service;
  }

  // A temporary folder.
  async folder() {
    const folder = await mkdtemp(join(tmpdir(), "cuepoint-browser-"));
    this.#endings.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  // Calls the function at the end of the test.
  atEnd(ending) {
    this.#endings.push(ending);
  }

  // Keeps what each visitor saw last, and names the files in the message of the error.
  async keepScreenshots(name, error) {
    for (const [number, visitor] of this.visitors.entries()) {
      const path = join(options.results, `failed-${fileName(name)}-${number + 1}.png`);
      try {
        await visitor.screenshot(path);
        error.message += `\n  visitor ${number + 1} saw ${visitor.page.url()}: ${path}`;
      } catch (failure) {
        error.message += `\n  visitor ${number + 1} has no screenshot: ${failure.message}`;
      }
      error.message += visitor.problems.map((problem) => `\n  ${problem}`).join("");
    }
  }

  async end() {
    for (const ending of this.#endings.reverse()) await ending();
  }
}
