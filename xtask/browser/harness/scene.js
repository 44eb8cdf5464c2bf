// Tests, each with visitors and services of its own, which end with the test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { options } from "./options.js";
import { Service } from "./service.js";
import { fileName } from "./see.js";
import { Visitor } from "./visitor.js";
import { within } from "./wait.js";

// The time after which a test has failed unless it names another one, in milliseconds.
const LIMIT = 60_000;

// The time after which the end of what a test used has failed, in milliseconds.
const END_LIMIT = 20_000;

// The tests of all suites, in the order of their declaration.
export const tests = [];

// Declares a test. Its name states the behaviour that it asserts. It fails after `limit` milliseconds. No other test runs
// beside one that is `alone`, because it measures times.
export function test(name, body, { limit = LIMIT, alone = false } = {}) {
  if (tests.some((other) => other.name === name)) throw new Error(`two tests have the name: ${name}`);
  tests.push({ name, alone, run: () => run(name, body, limit) });
}

async function run(name, body, limit) {
  const scene = new Scene();
  const failures = [];
  try {
    await within(limit, "the end of the test", body(scene));
    scene.visitors.forEach((visitor) => visitor.checkProblems());
  } catch (error) {
    await scene.keepScreenshots(name, error);
    failures.push(error);
  }
  failures.push(...(await scene.end()));
  if (failures.length > 0) throw failures[0];
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
  async service({ settings = {}, isDurable = true, hasTerminal = false } = {}) {
    const folder = await this.folder();
    const service = new Service(folder, settings, { isDurable, hasTerminal });
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
        await within(END_LIMIT, "a screenshot", visitor.screenshot(path));
        error.message += `\n  visitor ${number + 1} saw ${visitor.page.url()}: ${path}`;
      } catch (failure) {
        error.message += `\n  visitor ${number + 1} has no screenshot: ${failure.message}`;
      }
      error.message += visitor.problems.map((problem) => `\n  ${problem}`).join("");
    }
  }

  // Ends everything that the test used, and returns the failures.
  async end() {
    const failures = [];
    for (const ending of this.#endings.reverse()) {
      await within(END_LIMIT, "the end of a visitor or a service", ending()).catch((error) => failures.push(error));
    }
    return failures;
  }
}
