// The offers of an untouched form follow the live part. A raise changes the words at once, and the displayed price that
// the form sends five seconds later: the service asks about a tap that began before the guest saw the raise.
const RAISED_AFTER = 5000;
// The raises that the form shows and does not agree to yet: by the name of the field, the price and its timer.
const raises = {};

// All amounts have the same number of decimals.
const isMore = (a, b) => (a.length === b.length ? a > b : a.length > b.length);
const agreeLater = (name, value) => {
  const timer = setTimeout(() => {
    const field = $(`form [data-offers] [name=${name}]`);
    if (field) field.value = value;
  }, RAISED_AFTER);
  raises[name] = { value, timer };
};
const cancelRaise = (name) => {
  clearTimeout(raises[name]?.timer);
  delete raises[name];
};

// A form that was refused comes back with the choice of its guest.
const isTouched = (offers) =>
  offers.contains(document.activeElement) || all(':checked', offers).some(({ value }) => !['price', 'popular'].includes(value));

let shownOffers = $('template[data-offers]');
const renewOffers = (fresh) => {
  const next = $('template[data-offers]', fresh);
  const shown = $('form [data-offers]');
  if (!next || !shown || !shownOffers) return;
  const mark = $('.notice', shown);
  if (!mark && next.innerHTML === shownOffers.innerHTML) return;
  if (isTouched(shown)) {
    Object.keys(raises).forEach(cancelRaise);
    if (!mark && next.dataset.say === shownOffers.dataset.say) return;
    const notice = mark ?? element('p', '', 'notice attention');
    notice.textContent = next.dataset.say;
    $('button', shown).before(notice);
    return;
  }
  shownOffers = next;
  const offers = next.content.cloneNode(true);
  for (const field of all('[name^=price_]', offers)) {
    const { name, value } = field;
    const agreed = $(`[name=${name}]`, shown)?.value ?? '';
    const isRaise = isMore(value, agreed);
    if (isRaise) field.value = agreed;
    if (isRaise && raises[name]?.value === value) continue;
    cancelRaise(name);
    if (isRaise) agreeLater(name, value);
  }
  const place = () => $('button', shown).getBoundingClientRect().top;
  const top = place();
  shown.replaceChildren(offers);
  if (place() !== top) rest($('button', shown));
};

// The button of a typed amount names it.
document.addEventListener('input', ({ target }) => {
  const sum = target.form && $('[data-sum]', target.form);
  if (!sum) return;
  sum.dataset.plain ??= sum.textContent;
  sum.textContent = target.value ? sum.dataset.sum.replace('{}', target.value) : sum.dataset.plain;
});
