// Live parts: the stream says only that something changed; the part is read again.
const SILENCE = 35000;
const READ_INTERVAL = 10000;

// A background page shows its new requests in the title.
const title = document.title;
let unseen = 0;
const status = document.body.appendChild(element('p', '', 'hidden'));
status.role = 'status';
// A new element is announced, even if its text is that of the last one.
const say = (place, text) => place.replaceChildren(element('span', text));
const announceNew = (fresh) => {
  const [card] = fresh;
  const added = fresh.length;
  if (!card) return;
  const song = all('h3, .artist, .fee', card).map(({ textContent }) => textContent);
  news.push(counted(added, 'new') + (fresh[1] ? '' : `: ${song.join(', ')}`));
  if (!document.hidden) return;
  unseen += added;
  document.title = `${counted(unseen, 'new')} · ${title}`;
};

const connection = { since: 0, isLoggedOut: false };
const showConnection = () => {
  const { since, isLoggedOut } = connection;
  // Displays show a loss within ten seconds. The first read fails up to two seconds after it.
  for (const lost of all('[data-lost]')) lost.hidden = !since || Date.now() - since < 7000;
  const place = $('[data-connection]');
  if (!place) return;
  const unsent = allTaps().filter((tap) => tap.due <= Date.now()).length;
  const lines = [since ? words.since.replace('{time}', clock.format(since)) : words.liveNow];
  if (unsent && (since || tapTries)) lines.push(counted(unsent, 'tap'));
  const text = isLoggedOut ? (unsent ? counted(unsent, 'loginTap') : words.login) : lines.join(', ');
  if (place.textContent === text) return;
  place.className = since || isLoggedOut ? 'off' : '';
  const link = element(isLoggedOut ? 'a' : 'span', text);
  link.href = `/login?next=${encodeURIComponent(location.pathname)}`;
  place.replaceChildren(link);
};
const reached = (isReached) => {
  if (isReached) connection.since = 0;
  else connection.since ||= Date.now();
  paintTaps();
};

const readers = [];
const readAll = () => Promise.all(readers.map((read) => read()));

const follow = (part) => {
  const { live, stream: streamPath, keep } = part.dataset;
  const isAway = () => document.hidden && keep === undefined;
  const begun = Date.now();
  let stream;
  let heardAt = 0;
  let isHeard = true;
  let readAt = Date.now();
  let attempts = 0;
  let reopensAt = 0;
  let isReading = false;
  let isAskedAgain = false;

  const read = async () => {
    isAskedAgain = isReading;
    if (isReading) return;
    isReading = true;
    readAt = Date.now();
    try {
      const answer = await ask(`${live}${live.includes('?') ? '&' : '?'}digest=${part.dataset.digest ?? ''}`);
      // The gig has ended, the code is another one, or the user may not read it: the page itself says which.
      if ([403, 404].includes(answer.status)) readPage();
      if (answer.status >= 400 && answer.status !== 401) throw new Error(answer.status);
      const digest = answer.headers.get('X-Cuepoint-Digest');
      if (answer.status === 200) {
        const body = await parse(await answer.text());
        await untilStill();
        await replacePart(part, body, digest);
      } else if (digest) part.dataset.digest = digest;
      reached(true);
    } catch {
      reached(false);
    }
    isReading = false;
    if (isAskedAgain) read();
  };

  const close = () => {
    stream?.close();
    stream = undefined;
  };
  const fail = () => {
    close();
    isHeard = false;
    reopensAt = Date.now() + backOff(attempts);
    attempts += 1;
  };
  const open = () => {
    heardAt = Date.now();
    stream = new EventSource(streamPath);
    stream.onerror = () => {
      fail();
      setTimeout(read, Math.random() * 2000);
    };
    stream.addEventListener('changed', (event) => {
      [heardAt, isHeard, attempts] = [Date.now(), true, 0];
      // The digest ends with the version that the part shows. The booth shows more than the version covers.
      if (keep === undefined && event.data.includes(part.dataset.digest?.split('-')[1])) return;
      setTimeout(read, Math.random() * 2000);
    });
  };

  const interval = () => {
    // A part that could not be read is read again, even if the board does not change any more.
    // The stream does not announce the release of a fee, nor the end of a block.
    if (streamPath) return isHeard && !connection.since && !$('[data-soon], [data-status=blocked]') ? Infinity : READ_INTERVAL;
    return Date.now() - begun < 120000 ? 2000 : 15000;
  };
  const look = () => {
    showConnection();
    if (isAway()) return close();
    if (stream && Date.now() - heardAt > SILENCE) fail();
    if (streamPath && !stream && Date.now() >= reopensAt) open();
    if (Date.now() - readAt >= interval()) read();
  };

  readers.push(read);
  if (streamPath) open();
  setInterval(look, 1000);
  whenSeen(read);
};

whenSeen(() => {
  unseen = 0;
  document.title = title;
});
