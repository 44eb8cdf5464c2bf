// Defects of layout. The function runs in the page, so it uses nothing from outside of itself.

export function findDefects() {
  const LEAST_TARGET = 44;
  const findings = [];
  const describe = (element) => {
    const text = (element.innerText || element.value || "").trim().slice(0, 40);
    const id = element.id && `#${element.id}`;
    return `<${element.localName}${id}${[...element.classList].map((name) => `.${name}`).join("")}> ${text}`;
  };
  // Fields for password managers and texts for screen readers are cut to nothing.
  const isCut = (element) => getComputedStyle(element).clipPath === "inset(50%)";
  const isVisible = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !isCut(element);
  const width = document.documentElement.clientWidth;

  if (document.scrollingElement.scrollWidth > width) {
    const wide = [...document.body.querySelectorAll("*")].filter(
      (element) => isVisible(element) && element.getBoundingClientRect().right > width + 0.5,
    );
    findings.push(
      `the page scrolls horizontally (${document.scrollingElement.scrollWidth} > ${width}):` +
        wide.slice(-5).map((element) => `\n    ${describe(element)}`).join(""),
    );
  }

  // A link within a text is as high as its line.
  const isInText = (element) => getComputedStyle(element).display === "inline";
  // A label extends the target of its field.
  const targetOf = (element) => (["radio", "checkbox"].includes(element.type) ? element.labels[0] : undefined) ?? element;
  const targets = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary");
  for (const element of targets) {
    const target = targetOf(element);
    const { width: breadth, height } = target.getBoundingClientRect();
    // A link that is visible only with the focus is as small as a dot until then.
    if (!isVisible(target) || isInText(target) || (breadth <= 1 && height <= 1)) continue;
    if (height < LEAST_TARGET - 0.5 || breadth < LEAST_TARGET - 0.5) {
      findings.push(`a target has ${breadth.toFixed(1)} × ${height.toFixed(1)} px: ${describe(element)}`);
    }
  }
  return findings;
}
