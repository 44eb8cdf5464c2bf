// A person with a browser, and what goes wrong in it.

import { see } from "./see.js";
import { chromium } from "./packages.js";
import { options } from "./options.js";
import { Late, LIMIT, within } from "./wait.js";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const LOCALES = { en: "en-GB", de: "de-DE" };

let browser;

// Starts Chromium once, with a new and empty folder for its user's data.
function start() {
  browser ??= chromium.launch({ executablePath: options.chromium, args: ARGUMENTS, timeout: 60_000 });
  return browser;
}

// Ends Chromium.
export async function quit() {
  await (await browser)?.close();
}

export class Visitor {
  // What no page may cause: errors of the console, exceptions, violations of the content security policy.
  problems = [];
  #expected = [];
  #refusedDocuments = new Set();
  #scriptSessions = new Map();

  // Opens a new browser window. `base` is the address of the server.
  static async arrive({
    base,
    language = "en",
    scheme = "light",
    width = 390,
    script = true,
    forcedColors = "none",
    textScale = 1,
    pixelRatio = 1,
  }) {
    const visitor = new Visitor();
    const hasForcedColors = forcedColors === "active";
    Object.assign(visitor, { language, scheme, width, textScale, hasScript: script, hasForcedColors });
    visitor.context = await (await start()).newContext({
      baseURL: base,
      locale: LOCALES[language],
      timezoneId: "Europe/Berlin",
      colorScheme: scheme,
      forcedColors,
      reducedMotion: "reduce",
      viewport: { width, height: width < 768 ? 844 : 800 },
      deviceScaleFactor: pixelRatio,
    });
    visitor.context.setDefaultTimeout(LIMIT);
    await visitor.context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, sample }) =>
        console.error("the content security policy is violated:", violatedDirective, blockedURI, sourceFile, sample),
      );
    });
    visitor.page = await visitor.open();
    if (textScale !== 1) {
      const session = await visitor.context.newCDPSession(visitor.page);
      const fontSizes = { standard: 16 * textScale, fixed: 13 * textScale };
      await session.send("Page.setFontSizes", { fontSizes });
    }
    return visitor;
  }

  // Opens another tab.
  async open() {
    const page = await this.context.newPage();
    if (!this.hasScript) {
      this.#scriptSessions.set(page, await this.context.newCDPSession(page));
      await this.setScript(page, false);
    }
    page.on("pageerror", (error) => this.problems.push(`exception at ${page.url()}: ${error.message}`));
    page.on("console", (message) => this.#hear(page, message));
    page.on("response", (response) => {
      if (response.status() >= 400 && response.request().isNavigationRequest()) {
        this.#refusedDocuments.add(response.url());
      }
    });
    return page;
  }

  // Lets scripts run in a page of a visitor without scripts, or forbids it again.
  async setScript(page, isAllowed) {
    // Only the session that forbids scripts can allow them.
    await this.#scriptSessions.get(page)?.send("Emulation.setScriptExecutionDisabled", { value: !isAllowed });
  }

  #hear(page, message) {
    if (message.type() !== "error") return;
    this.problems.push(`console at ${page.url()}: ${message.text()} (${message.location().url})`);
  }

  // Errors with these texts are part of the test, such as those of an interrupted network.
  expectProblems(pattern) {
    this.#expected.push(pattern);
  }

  // Fails if the browser reported an error.
  checkProblems() {
    const unexpected = this.problems.filter((problem) => !this.#isExpected(problem));
    if (unexpected.length > 0) throw new Error(`the browser reports:\n${unexpected.join("\n")}`);
  }

  // An error page is a page: Chromium reports the status of its document as an error.
  #isExpected(problem) {
    const isDocument = [...this.#refusedDocuments].some((url) => problem.endsWith(`(${url})`));
    const isStatus = problem.includes("the server responded with a status of");
    return (isDocument && isStatus) || this.#expected.some((pattern) => pattern.test(problem));
  }

  // Keeps a screenshot of the page, and fails if the page has a defect.
  see(name, page = this.page) {
    return see(this, page, name);
  }

  // Stores a picture of the entire page. Nothing is injected into the page, which its policy would refuse.
  async screenshot(path, page = this.page) {
    const settings = { path, animations: "allow", caret: "initial" };
    const hasCards = await page.locator("[data-card]").count();
    if (this.textScale === 1 && !hasCards) return page.screenshot({ ...settings, fullPage: true });
    // A picture of more than the window resets the size of the text and lacks the cards outside of the window, so that the
    // window becomes as high as the page.
    const window = page.viewportSize();
    const height = await page.evaluate(() => document.scrollingElement.scrollHeight);
    await page.setViewportSize({ ...window, height });
    await page.screenshot(settings);
    await page.setViewportSize(window);
  }

  // Cuts the network, or connects it again.
  setOffline(isOffline) {
    return this.context.setOffline(isOffline);
  }

  // Ends the pages and the window. Rarely, Chromium does not answer: the window then ends with the browser, because no
  // assertion depends on it.
  async leave() {
    const url = this.page.url();
    try {
      await within(LIMIT, "the end of a window", this.#end());
    } catch (error) {
      if (!(error instanceof Late)) throw error;
      console.warn(`${error.message} at ${url}`);
    }
  }

  async #end() {
    // Chromium can keep a context open forever while it has pages.
    for (const page of this.context.pages()) await page.close();
    await this.context.close();
  }
}
