// What every page must pass in every state.

import { join } from "node:path";

import { options } from "./options.js";
import { axeSource } from "./packages.js";
import { findDefects } from "./defects.js";

// The rules of WCAG 2.2 AA, and the best practices of the rules' authors.
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// A name of a file for a text.
export function fileName(text) {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").slice(0, 120);
}

// Keeps a screenshot, then fails if the page has a finding of axe, scrolls horizontally, has a target that is too
// small, or has caused an error in the browser.
export async function see(visitor, page, name) {
  const { language, scheme, width } = visitor;
  await visitor.screenshot(join(options.results, `${name}-${language}-${scheme}-${width}.png`), page);
  // Promises of the rules need scripts. The scripts of a page that was loaded without them do not start later.
  await visitor.setScript(page, true);
  const isolated = await isolatedWorld(page);
  try {
    const findings = [...(await isolated.call(findDefects)), ...(await accessibilityFindings(isolated, visitor))];
    if (findings.length > 0) throw new Defect(`${page.url()} has ${findings.length} findings:\n${findings.join("\n")}`);
  } finally {
    await isolated.close();
    await visitor.setScript(page, visitor.hasScript);
  }
  visitor.checkProblems();
}

// A defect of a page. Its findings say more than the lines of the test.
class Defect extends Error {
  constructor(message) {
    super(message);
    this.stack = "";
  }
}

async function accessibilityFindings(isolated, visitor) {
  await isolated.evaluate(axeSource);
  // Style sheets are not fetched again, because the rules that need it are experimental.
  const settings = {
    runOnly: RULES,
    resultTypes: ["violations"],
    preload: false,
    rules: {
      // Without scripts, only a refresh shows what has changed.
      "meta-refresh": { enabled: visitor.hasScript },
      // With forced colours, the browser replaces the colours that the rule would compare.
      "color-contrast": { enabled: !visitor.hasForcedColors },
    },
  };
  const violations = await isolated.evaluate(
    `axe.run(document, ${JSON.stringify(settings)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")}\n    ${failureSummary ?? ""}`),
  );
}

// A world of scripts beside the page: it sees the document, and the page's policy does not restrict it.
async function isolatedWorld(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "checks",
  });
  const evaluate = async (expression) => {
    const settings = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", settings);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return { evaluate, call: (body) => evaluate(`(${body})()`), close: () => session.detach() };
}
