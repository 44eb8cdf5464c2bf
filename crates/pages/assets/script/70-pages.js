// What single pages need.

// A notice is shown once, and not again after a reload.
const shown = new URL(location);
shown.searchParams.delete('done');
history.replaceState(null, '', shown);

// A notice shows its focus only after a form that was sent by a key. Such a click has the detail 0.
addEventListener('click', ({ detail }) => (sessionStorage.keys = Number(!detail)), true);
addEventListener('load', () => document.documentElement.classList.toggle('keys', sessionStorage.keys > 0));

// A first gig is named after the day on which its DJ opens it.
for (const { elements } of all('[data-today]')) {
  elements.title.defaultValue = new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(now());
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if ('tap' in form.dataset && user) {
    event.preventDefault();
    takeTap(form, event.submitter);
  } else if ('once' in form.dataset) {
    if (form.isSent) event.preventDefault();
    form.isSent = true;
  }
});
addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  // The page comes from the browser's memory, after "back".
  for (const form of document.forms) form.isSent = false;
  readAll();
  pump();
});

// A confirmed payment sends the request that waited for it, once for each payment.
const sendDraft = () => {
  const form = $('form[data-auto]');
  const name = `cuepoint-draft:${location.pathname}`;
  if (!form || sessionStorage.getItem(name)) return;
  sessionStorage.setItem(name, '1');
  form.requestSubmit();
};

// A position is asked for by a tap alone, and sent with two decimals: about a kilometre.
for (const locate of all('[data-locate]')) {
  locate.hidden = !navigator.geolocation;
  const fill = ({ coords }) => {
    const place = [coords.latitude.toFixed(2), coords.longitude.toFixed(2)];
    const { near, latitude, longitude } = locate.form.elements;
    if (latitude) [latitude.value, longitude.value] = place;
    if (!near) return;
    near.value = place;
    locate.form.requestSubmit();
  };
  const refuse = () => locate.after(element('p', locate.dataset.locate, 'error'));
  locate.onclick = () => {
    $('.error', locate.parentElement)?.remove();
    navigator.geolocation.getCurrentPosition(fill, refuse, { maximumAge: 600000, timeout: 10000 });
  };
}

// The link of a message has its code after `#`, which browsers send to no server.
for (const { elements } of all('[data-token]')) elements.token.value ||= location.hash.slice(1);

for (const print of all('[data-print]')) {
  print.hidden = false;
  print.onclick = () => window.print();
}

// A display keeps its screen on. The browser takes the lock back whenever the page is hidden.
const stayAwake = () => {
  if ($('[data-awake]')) navigator.wakeLock?.request('screen').catch(() => {});
};
whenSeen(stayAwake);
stayAwake();

all('[data-live]').forEach(follow);
paintTaps();
pump();
// The guest sees what is sent.
addEventListener('load', sendDraft);
