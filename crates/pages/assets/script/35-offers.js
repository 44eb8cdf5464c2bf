// The offers of a form that nobody has touched follow the live part. A raise changes the words at once, and after five
// seconds what the form agrees to, so that a tap that was on its way is asked about.
const RAISED_AFTER = 5000;
const shownPrices = {};

// All amounts have the same number of decimals.
const isMore = (a, b) => (a.length === b.length ? a > b : a.length > b.length);
const priceField = (name) => $(`form [data-offers] [name=${name}]`);
const agreeTo = (name, value) => {
  const field = priceField(name);
  const agreed = isMore(value, shownPrices[name]) ? shownPrices[name] : value;
  if (field && isMore(agreed, field.value)) field.value = agreed;
};

const isTouched = (offers) =>
  offers.contains(document.activeElement) || all('input', offers).some((choice) => choice.checked !== choice.defaultChecked);

let offersBefore = $('template[data-offers]');
const renewOffers = (fresh) => {
  const next = $('template[data-offers]', fresh);
  const shown = $('form [data-offers]');
  const before = offersBefore;
  offersBefore = next;
  if (!next || !before || !shown || next.innerHTML === before.innerHTML) return;
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
    const agreed = priceField(name)?.value ?? '';
    if (isMore(value, agreed)) field.value = agreed;
    if (isMore(value, shownPrices[name] ?? agreed)) setTimeout(agreeTo, RAISED_AFTER, name, value);
    shownPrices[name] = value;
  }
  shown.replaceChildren(offers);
};

// The button of a typed amount names it.
document.addEventListener('input', ({ target }) => {
  const sum = target.form && $('[data-sum]', target.form);
  if (!sum) return;
  sum.dataset.plain ??= sum.textContent;
  sum.textContent = target.value ? sum.dataset.sum.replace('{}', target.value) : sum.dataset.plain;
});
