// Unsent taps: a tap is stored before it is sent, and sent until this service answers. Its key makes it take effect once.
const PREFIX = 'cuepoint-tap:';
const OLDEST = 12 * 3600 * 1000;
const UNDO = 4000;
// A page sends the taps of another one late, because that one may be open, and says their results.
const PATIENCE = 3000;
const user = $('[data-user]')?.dataset.user;
let tapTries = 0;
let retriesAt = 0;
let lastTap = 0;
let pumpTimer;

// Those of another user, who has logged in meanwhile in another tab, are left to that tab.
const allTaps = (isMeant = (tap) => tap.user === user) => {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).sort();
    return names.map((name) => JSON.parse(localStorage[name])).filter(isMeant);
  } catch {
    return [];
  }
};
// Each tap has an entry of its own, so that two tabs never overwrite each other's list.
const store = (tap) => localStorage.setItem(tap.name, JSON.stringify(tap));
const forget = (tap) => localStorage.removeItem(tap.name);
// The names of the taps in this page.
const own = new Set();
const dueOf = ({ name, due }) => due + (own.has(name) ? 0 : PATIENCE);
const waits = (tap) => tap?.undo && tap.due > Date.now();

// A result has a place of its own, so that it moves nothing; a refusal stays until it is closed.
const tell = async (text, isDone) => {
  const said = $('[data-said]');
  if (isDone && said) say(said, text);
  if (isDone || !said) return;
  await untilStill();
  const notice = element('div', '', 'notice attention');
  notice.append(element('p', text), button(words.close, () => notice.remove()));
  $('[data-messages]').append(notice);
};

const takeTap = (form, submitter) => {
  const fields = new FormData(form, submitter);
  const key = fields.get('key');
  if (allTaps().some((tap) => tap.key === key)) return;
  const card = form.closest('.card');
  const at = (lastTap = Math.max(Date.now(), lastTap + 1));
  const { action, dataset: { tap: kind, undo } } = form;
  const body = new URLSearchParams(fields).toString();
  const tap = { name: `${PREFIX}${at}:${key}`, key, action, body, card: card?.id, kind, undo, user, at, due: undo ? at + UNDO : at };
  if (kind === 'end' && allTaps().length) tell(words.ends, true);
  own.add(tap.name);
  try {
    store(tap);
  } catch {
    // Without storage, the browser sends the form.
    form.submit();
    return;
  }
  if (card?.contains(document.activeElement)) (card.nextElementSibling ?? card.previousElementSibling ?? card).focus({ preventScroll: true });
  paintTaps();
  pump();
};

// Takes back this tap, or the last one. A tap that may have been sent is not undone.
const undoTap = (key) => {
  const tap = allTaps().findLast((tap) => waits(tap) && tap.key === (key ?? tap.key));
  if (tap) forget(tap);
  paintTaps();
  document.getElementById(tap?.card)?.focus();
};

// Shows on each card what happens to its tap.
const paintTaps = () => {
  const taps = allTaps();
  for (const state of all('[data-state]')) {
    const card = state.parentElement;
    const tap = taps.find((tap) => tap.card === card.id);
    card.classList.toggle('busy', Boolean(tap));
    const isWaiting = waits(tap);
    const text = isWaiting ? tap.undo : connection.since || tapTries ? words.unsent : words.sending;
    const shown = tap ? tap.key + text : '';
    if (state.dataset.shown === shown || (!tap && card.classList.contains('done'))) continue;
    state.dataset.shown = shown;
    state.replaceChildren(tap ? text : '');
    if (!isWaiting) continue;
    const undo = button(words.undo, () => undoTap(tap.key));
    undo.ariaLabel = `${words.undo} ${$('h3, summary', card).textContent}`;
    state.append(undo);
  }
  showConnection();
};

const post = ({ action, body }) => ask(action, { method: 'POST', body: new URLSearchParams(body), keepalive: true });

// Whether the tap was answered.
const sendTap = async (tap) => {
  let answer;
  try {
    answer = await post(tap);
    if ([401, 429].includes(answer.status) || answer.status >= 500) throw new Error(answer.status);
    const body = await parse(await answer.text());
    showTimes(body);
    forget(tap);
    tapTries = 0;
    tell(body.textContent.trim(), answer.ok);
    if (tap.kind === 'end' && answer.ok) readPage();
    if (answer.ok) document.getElementById(tap.card)?.classList.add('done');
    return true;
  } catch {
    if (!answer) reached(false);
    retriesAt = Date.now() + (answer?.headers.get('Retry-After') * 1000 || backOff(tapTries));
    tapTries += 1;
    return false;
  }
};

const sendTaps = async () => {
  let isAnswered;
  while (Date.now() >= retriesAt) {
    const tap = allTaps().find((tap, place) => dueOf(tap) <= Date.now() && (tap.kind !== 'end' || !place));
    paintTaps();
    if (!tap || !(await sendTap(tap))) break;
    isAnswered = true;
  }
  paintTaps();
  if (isAnswered) await readAll();
};

let isPumping = false;
const pump = async () => {
  if (!user || isPumping) return;
  isPumping = true;
  clearTimeout(pumpTimer);
  // One tab sends, so that the order of taps is that of the user.
  const locks = navigator.locks;
  await (locks ? locks.request('cuepoint-taps', { ifAvailable: true }, (lock) => lock && sendTaps()) : sendTaps()).catch(() => {});
  isPumping = false;
  paintTaps();
  const dues = allTaps().map((tap) => Math.max(dueOf(tap), retriesAt));
  if (dues.length) pumpTimer = setTimeout(pump, Math.max(300, Math.min(...dues) - Date.now()));
};

const dropTaps = (isDropped, text) => {
  const dropped = allTaps(isDropped);
  dropped.forEach(forget);
  if (dropped.length) tell(text.replace('{n}', dropped.length), false);
};

if (user) {
  dropTaps((tap) => tap.user !== user, words.others);
  dropTaps((tap) => Date.now() - tap.at > OLDEST, words.old);
  // A DJ who leaves the page has decided: a tap that waits for its undo is sent.
  addEventListener('pagehide', () => {
    for (const tap of allTaps(({ name }) => own.has(name))) {
      store({ ...tap, due: 0 });
      if (waits(tap)) post(tap).catch(() => {});
    }
  });
  // Another page of this browser may have closed.
  addEventListener('storage', pump);
  addEventListener('online', () => {
    retriesAt = 0;
    pump();
  });
}
