// Times are relative within an hour, and otherwise local.
const language = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
const ofDay = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const clock = new Intl.DateTimeFormat(language, ofDay);
const calendar = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...ofDay });

const timeText = (at, isClock) => {
  const minutes = Math.trunc((at - now()) / 60000);
  if (isClock) return clock.format(at);
  // A sentence may end with the time, so that an abbreviation has no point.
  if (Math.abs(minutes) < 60) return relative.format(minutes, 'minute').replace(/\.$/, '');
  const isToday = at.toDateString() === new Date(now()).toDateString();
  return (isToday ? clock : calendar).format(at);
};

const showTimes = (within) => {
  for (const time of all('time[datetime]', within)) {
    const text = timeText(new Date(time.dateTime), 'clock' in time.dataset);
    if (time.textContent !== text) time.textContent = text;
  }
};

// The details around "played" and "rejected" guard against stray taps; with the script, undo does.
const prepare = (within) => {
  showTimes(within);
  for (const guard of all('[data-guard]', within)) guard.open = true;
};

prepare(document);
setInterval(() => showTimes(document), 30000);
