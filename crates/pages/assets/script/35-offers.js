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

const renewOffers = (fresh) => {
  const next = $('[data-offers]', fresh);
  const before = $('.live [data-offers]');
  const shown = $('form [data-offers]');
  if (!next || !before || !shown || next.isEqualNode(before)) return;
  if (isTouched(shown)) {
    if (next.dataset.say === before.dataset.say) return;
    const mark = $('.notice', shown) ?? $('button', shown).parentElement.insertBefore(element('p', '', 'notice attention'), $('button', shown));
    mark.textContent = next.dataset.say;
    return;
  }
  const offers = next.cloneNode(true);
  offers.hidden = false;
  for (const field of all('[name^=price_]', offers)) {
    const { name, value } = field;
    const agreed = priceField(name)?.value ?? '';
    if (isMore(value, agreed)) field.value = agreed;
    if (isMore(value, shownPrices[name] ?? agreed)) setTimeout(agreeTo, RAISED_AFTER, name, value);
    shownPrices[name] = value;
  }
  shown.replaceWith(offers);
};

// The button of a typed amount names it.
document.addEventListener('input', ({ target }) => {
  const sum = target.form && $('[data-sum]', target.form);
  if (!sum) return;
  sum.dataset.plain ??= sum.textContent;
  sum.textContent = target.value ? sum.dataset.sum.replace('{}', target.value) : sum.dataset.plain;
});
