// The element with the focus.

// Whether this element has the focus.
export const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

// What has the focus, such as `button Accept` or `li#request-12`.
export const focusOf = (page) =>
  page.evaluate(() => {
    const focused = document.activeElement;
    return focused.id ? `${focused.localName}#${focused.id}` : `${focused.localName} ${focused.innerText ?? ""}`.trim();
  });

// Goes through the page with the tab key, and returns its stops. Fails if the focus cannot be seen at one of them,
// because nothing marks it, or because something covers it.
export async function tabThrough(page) {
  const stops = [];
  const problems = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(seeFocus);
    if (stop === undefined || stops.length > 200) break;
    stops.push(stop.name);
    if (stop.problem) problems.push(`${stop.name} ${stop.problem}`);
  }
  if (problems.length > 0) throw new Error(`the focus cannot be seen:\n${problems.join("\n")}`);
  return stops;
}

// Runs in the page.
function seeFocus() {
  const focused = document.activeElement;
  if (focused === document.body) return undefined;
  const name = `${focused.localName} ${focused.id || focused.innerText || focused.name}`.trim().replaceAll(/\s+/g, " ");
  // The label around a choice shows its focus.
  const marked = focused.closest(".choice") ?? focused;
  const { outlineStyle, outlineWidth } = getComputedStyle(marked);
  const box = focused.getBoundingClientRect();
  const isHit = ([x, y]) => {
    const hit = document.elementFromPoint(box.x + x * box.width, box.y + y * box.height);
    return hit !== null && (focused.contains(hit) || hit.contains(focused));
  };
  const isMarked = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const problem = !isMarked ? "is not marked" : ![[0.5, 0.5], [0.02, 0.1], [0.98, 0.9]].some(isHit) ? "is covered" : undefined;
  return { name, problem };
}
