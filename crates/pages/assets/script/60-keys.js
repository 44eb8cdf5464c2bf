// Keys of the booth. They are off while a field has the focus.
const help = $('[data-keys]');
if (help) help.hidden = false;

const selectCard = (step) => {
  const cards = all('[data-card]');
  const place = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[place < 0 ? 0 : place + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};
const press = (kind) => () => {
  const card = document.activeElement.closest('[data-card]:not(.busy, .done)');
  const form = card && $(`form[data-tap="${kind}"]`, card);
  form?.requestSubmit();
};
const keys = {
  a: press('accept'),
  r: press('reject'),
  p: press('played'),
  u: undoTap,
  arrowdown: () => selectCard(1),
  arrowup: () => selectCard(-1),
  '?': () => {
    help.open = !help.open;
    $('summary', help).focus();
  },
};
document.addEventListener('keydown', (event) => {
  const act = keys[event.key.toLowerCase()];
  const isTyping = event.target.closest('input, select, textarea');
  // A letter acts only in a card, so that words spoken to a computer do nothing elsewhere.
  const isMeant = event.key[1] || event.target.closest('[data-card], [data-keys]');
  if (!help || !act || !isMeant || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
