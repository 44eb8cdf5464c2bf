// What a screen reader tells of a page.

const LANDMARKS = ["banner", "navigation", "main", "region", "contentinfo", "complementary"];
const CONTROLS = ["button", "link", "textbox", "radio", "checkbox", "combobox", "DisclosureTriangle"];

// The nodes of Chromium's accessibility tree in reading order, each with `role`, `name`, `description`, `level`, and
// the name of its `group`.
export async function readingOrder(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const read = (node, group) => {
    const { role, name, description, properties = [], childIds = [] } = node;
    const level = properties.find((property) => property.name === "level")?.value.value;
    const told = { role: role.value, name: name?.value ?? "", description: description?.value ?? "", level, group };
    const inner = ["group", "radiogroup"].includes(told.role) && told.name ? told.name : group;
    const children = childIds.filter((id) => byId.has(id)).flatMap((id) => read(byId.get(id), inner));
    return node.ignored ? children : [told, ...children];
  };
  return read(nodes[0]);
}

// The landmarks and headings of a page, such as `navigation: Navigation` and `2: Up next`.
export function outlineOf(nodes) {
  const isOutline = ({ role }) => role === "heading" || LANDMARKS.includes(role);
  return nodes.filter(isOutline).map(({ role, level, name }) => {
    const kind = role === "heading" ? level : role;
    return name ? `${kind}: ${name}` : kind;
  });
}

// The fields, buttons and links of a page, such as `button: Cancel this request Blue Monday`.
export function controlsOf(nodes) {
  const controls = nodes.filter(({ role }) => CONTROLS.includes(role));
  return controls.map(({ role, name, group }) => `${role}: ${name}${group ? ` (${group})` : ""}`);
}

// The controls without a name, or with the name of another one. Links with one name may lead to one page.
export function unclearControls(nodes) {
  const controls = controlsOf(nodes);
  const isTwice = (control, place) => !control.startsWith("link:") && controls.indexOf(control) !== place;
  return controls.filter((control, place) => / $/.test(control) || isTwice(control, place));
}

// Records what a screen reader announces on its own: each text that is put into a live region. Call this before the
// page is opened. The returned function reads the announcements since the last call.
export async function hearing({ context, page }) {
  await context.addInitScript(() => {
    window.announced = [];
    const elementOf = (node) => (node.nodeType === 1 ? node : node.parentElement);
    const regionOf = (node) => elementOf(node)?.closest("[role=status], [role=alert]");
    const listen = (changes) => {
      if (document.readyState === "loading") return;
      const additions = changes.filter(({ type, addedNodes }) => type === "characterData" || addedNodes.length > 0);
      for (const region of new Set(additions.map(({ target }) => regionOf(target)))) {
        const text = region?.isConnected && region.innerText.trim().replaceAll(/\s+/g, " ");
        if (text) window.announced.push(text);
      }
    };
    const everything = { subtree: true, childList: true, characterData: true };
    const observer = new MutationObserver(listen);
    observer.observe(document, everything);
    // What the page contains from the beginning is read, and not announced.
    document.addEventListener("readystatechange", () => observer.takeRecords(), { once: true });
  });
  return () => page.evaluate(() => window.announced.splice(0));
}
