// The offers of an untouched form follow the live part. A raise changes the words at once, and after five
// seconds what the form agrees to, so that a tap that was on its way is asked about.
const RAISED_AFTER = 5000;
// The timers of raises, by the name of the field.
const raises = {};

// All amounts have the same number of decimals.
const isMore = (a, b) => (a.length === b.length ? a > b : a.length > b.length);
const agreeLater = (name, value) => {
  clearTimeout(raises[name]);
  raises[name] = setTimeout(() => {
    const field = $(`form [data-offers] [name=${name}]`);
    if (field) field.value = value;
  }, RAISED_AFTER);
};

// A form that was refused comes back with the choice of its guest.
const isTouched = (offers) =>
  offers.contains(document.activeElement) || all(':checked', offers).some(({ value }) => !['price', 'popular'].includes(value));

let offersBefore = $('template[data-offers]');
const renewOffers = (fresh) => {
  const next = $('template[data-offers]', fresh);
  const shown = $('form [data-offers]');
  if (!next) return;
  const before = offersBefore;
  offersBefore = next;
  if (!before || !shown || next.innerHTML === before.innerHTML) return;
  if (isTouched(shown)) {
    if (next.dataset.say === before.dataset.say) return;
    const mark = $('.notice', shown) ?? element('p', '', 'notice attention');
    mark.textContent = next.dataset.say;
    $('button', shown).before(mark);
    return;
  }
  const offers = next.content.cloneNode(true);
  for (const field of all('[name^=price_]', offers)) {
    const { name, value } = field;
    const [agreed, displayed] = [shown, before.content].map((place) => $(`[name=${name}]`, place)?.value ?? '');
    if (!isMore(value, agreed)) clearTimeout(raises[name]);
    else field.value = agreed;
    if (isMore(value, agreed) && value !== displayed) agreeLater(name, value);
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
