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
  // Within ten seconds of the loss: the first failed read comes up to two seconds after it.
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
  let version;
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
      if ([403, 404].includes(answer.status)) location.reload();
      if (answer.status >= 400 && answer.status !== 401) throw new Error(answer.status);
      if (answer.status === 200) {
        const body = await parse(await answer.text());
        await untilStill();
        await replacePart(part, body, answer.headers.get('X-Cuepoint-Digest'));
      }
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
      const isSame = version === event.data;
      [heardAt, isHeard, attempts, version] = [Date.now(), true, 0, event.data];
      // A sign of life repeats the version; the booth shows more than the version covers.
      if (isSame && keep === undefined && part.dataset.digest) return;
      setTimeout(read, Math.random() * 2000);
    });
  };

  const interval = () => {
    // A part that could not be read is read again, even if the board does not change any more.
    // Money that comes back soon changes nothing on the board.
    if (streamPath) return isHeard && !connection.since && !$('[data-soon], [data-status=blocked]', part) ? Infinity : READ_INTERVAL;
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
