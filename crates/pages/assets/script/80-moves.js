// Buttons on the screen that have moved take no tap for half a second.
let isChanged = false;
// The scroll position that the reader chose. The browser changes it, too, so that what is seen stays where it is.
let scrolled = 0;
addEventListener('scroll', () => (scrolled = scrollY));
const changes = new MutationObserver(() => {
  isChanged = true;
  // An element is reported in the first frame after it is observed.
  frames.disconnect();
  frames.observe(document.body);
});
// Runs after the layout of a frame and before it is shown. Everything is read before anything is animated.
const frames = new ResizeObserver(() => {
  const moved = all('[data-card], details.card').filter((card) => {
    const { top, bottom, height } = card.getBoundingClientRect();
    const last = card.place;
    card.place = { top: top + scrollY, height };
    const isSame = last && Math.hypot(top + scrolled - last.top, height - last.height) < 4;
    return !isSame && bottom > 0 && top < innerHeight;
  });
  scrolled = scrollY;
  if (isChanged) moved.forEach((card) => rest($('.acts, form', card)));
  isChanged = false;
  changes.observe(document, { subtree: true, childList: true });
});
frames.observe(document.body);
