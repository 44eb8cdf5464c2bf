// Replaces what has changed in a live part. Cards have ids and are replaced as a whole.
const CARDS = '.card[id]';
const FOCUSABLE = 'a, button, input, select, textarea, summary';

// Nothing moves under a finger, and for one second afterwards.
let isDown = false;
let restsUntil = 0;
const lift = () => {
  if (isDown) restsUntil = Date.now() + 1000;
  isDown = false;
};
addEventListener('pointerdown', () => (isDown = true), true);
for (const type of ['pointerup', 'pointercancel', 'blur']) addEventListener(type, lift, true);
// After 8 ms of work, the browser handles taps and draws. A message ends the wait, because browsers delay the timers of
// pages in the background by seconds.
let begunAt = 0;
const untilStill = async () => {
  if (Date.now() - begunAt > 8) {
    await new Promise((resolve) => {
      addEventListener('message', resolve, { once: true });
      postMessage(0);
    });
    begunAt = Date.now();
  }
  while (isDown || Date.now() < restsUntil) await new Promise((resolve) => setTimeout(resolve, 100));
};

// Whether a form waits for its answer. A form in its place would have another key.
const isSent = (within) => all('form', within).some(({ isSent }) => isSent);
const isEdited = (field) => field.type !== 'hidden' && 'defaultValue' in field && field.value !== field.defaultValue;
// What is announced after a change.
const news = [];
// Whether a card has to stay although it has changed.
const isKept = (card, part) => {
  const focused = document.activeElement;
  const hasFocus = card !== focused && card.contains(focused);
  const isNeeded = hasFocus || isSent(card) || card.classList.contains('busy') || all('input, textarea', card).some(isEdited);
  if (!isNeeded || !card.matches(CARDS)) return false;
  part.dataset.digest = '';
  if ($('.outdated', card)) return true;
  card.append(element('p', words.outdated, 'outdated'));
  if (hasFocus) news.push(words.outdated);
  return true;
};

// Returns the element that shows `fresh`, in its place.
const merged = async (old, fresh, part) => {
  await untilStill();
  if (!old.matches(CARDS) && ($(CARDS, old) || $(CARDS, fresh))) {
    await mergeChildren(old, fresh, part);
    return old;
  }
  const { digest } = fresh.dataset;
  if ((digest && digest === old.dataset.digest && !old.classList.contains('done')) || old.isEqualNode(fresh)) return old;
  if (isKept(old, part)) return old;
  for (const open of all('details[open][id]', old)) {
    const same = $(`#${CSS.escape(open.id)}`, fresh);
    if (same) same.open = true;
  }
  if (old.open) fresh.open = true;
  // A card outside of the screen keeps its height until it is seen, so that nothing jumps.
  fresh.place = old.place;
  if (digest) fresh.style.containIntrinsicHeight = `auto ${old.place?.height}px`;
  const focused = document.activeElement;
  const hasFocus = old.contains(focused);
  const place = all(FOCUSABLE, old).indexOf(focused);
  old.replaceWith(fresh);
  if (hasFocus) (all(FOCUSABLE, fresh)[place] ?? fresh).focus({ preventScroll: true });
  return fresh;
};

const mergeChildren = async (old, fresh, part) => {
  const before = [...old.children];
  const wanted = [];
  for (const [place, next] of [...fresh.children].entries()) {
    const last = before[place];
    const hasPlace = last && !last.id && last.tagName === next.tagName;
    const same = next.id ? $(`#${CSS.escape(next.id)}`, part) : hasPlace && last;
    wanted.push(same ? await merged(same, next, part) : next);
  }
  for (const child of [...old.children]) {
    if (!wanted.includes(child) && !isKept(child, part)) child.remove();
  }
  let place = old.firstElementChild;
  for (const shown of wanted) {
    await untilStill();
    // Another script may have removed it meanwhile.
    if (place?.parentNode !== old) place = null;
    while (place && !wanted.includes(place)) place = place.nextElementSibling;
    if (shown === place) place = place.nextElementSibling;
    else old.insertBefore(shown, place);
  }
};

const says = (part) => all('[data-say]', part).map((place) => place.dataset.say);
const newCards = () => all('[data-count] > [id]');

const replacePart = async (part, body, digest) => {
  const fresh = body.firstElementChild;
  if (!fresh) return;
  // The form depends on the status of the gig. What a guest has typed stays, also in a form that was refused.
  const shown = $('[data-status]');
  const next = $('[data-status]', fresh);
  if (shown?.dataset.status !== next?.dataset.status) {
    if (!isSent() && !all('input').some(({ type, value }) => type === 'text' && value)) {
      const again = $('[data-again]');
      return again ? again.submit() : readPage();
    }
    news.push(...all('.chip', next).map(({ textContent }) => textContent));
  }
  // What is said of the gig above the form follows the part.
  shown?.replaceWith(next);
  prepare(fresh);
  renewOffers(fresh);
  const known = newCards().map(({ id }) => id);
  const said = says(part);
  part.dataset.digest = digest ?? fresh.dataset.digest ?? '';
  const focused = document.activeElement;
  const card = focused.closest('[data-card]');
  const place = all('[data-card]').indexOf(card);
  await mergeChildren(part, fresh, part);
  if (card && document.activeElement === document.body) {
    // What has the focus keeps it, or else its card, or the card at its place.
    const cards = all('[data-card]');
    (focused.isConnected ? focused : ($(`#${card.id}`) ?? cards[place] ?? cards.at(-1)))?.focus({ preventScroll: true });
  }
  announceNew(newCards().filter(({ id }) => !known.includes(id)));
  const text = [...news.splice(0), ...says(part).filter((text) => !said.includes(text))].join('. ');
  if (text) say(status, text);
  paintTaps();
  sendDraft();
};
