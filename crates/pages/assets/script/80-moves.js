// A click was meant for what was in its place before: buttons that have moved rest for half a second.
const places = {};
const rest = (changes) => {
  for (const card of all('.acts, details.card > form')) {
    const { id } = card.parentElement;
    const place = card.offsetLeft + ' ' + card.offsetTop;
    // The second half of the animation is that of its end, in which they act.
    if (changes && place !== places[id]) card.animate({ offset: 0, filter: 'opacity(.3)', pointerEvents: 'none' }, 1000);
    places[id] = place;
  }
};
rest();
new MutationObserver(rest).observe(document, { subtree: true, childList: true });
