'use strict';
// Every page works without this script. It adds live parts, unsent taps and undo.

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// The page has the texts, because only the server knows the language.
const words = $('#words')?.dataset ?? {};
const counted = (n, name) => words[n === 1 ? name : `${name}s`].replace('{n}', n);
const policy = window.trustedTypes?.createPolicy('cuepoint', { createHTML: (text) => text });
// A long text is parsed in pieces.
const parse = async (text) => {
  const page = document.implementation.createHTMLDocument();
  for (let at = 0; at < text.length; at += 30000) {
    if (at) await untilStill();
    const piece = text.slice(at, at + 30000);
    page.write(policy?.createHTML(piece) ?? piece);
  }
  page.close();
  return page.body;
};

const element = (name, textContent, className = '') =>
  Object.assign(document.createElement(name), { className, textContent });
// A button outside of forms.
const button = (text, onclick) => Object.assign(element('button', text, 'plain'), { onclick });

// The clock of a laptop can be wrong, so that ages follow the clock of the server.
let ahead = 0;
const now = () => Date.now() + ahead;

// An answer counts only with the header of this service, because a captive portal answers 200, too.
const ask = async (path, options = {}) => {
  const headers = { 'X-Cuepoint-Part': '1', ...(user && { 'X-Cuepoint-User': user }) };
  const answer = await fetch(path, { redirect: 'manual', cache: 'no-store', signal: AbortSignal.timeout(8000), ...options, headers });
  if (answer.headers.get('X-Cuepoint-Part') !== '1') throw new Error(answer.status);
  const date = Date.parse(answer.headers.get('Date'));
  if (date) ahead = date - Date.now();
  connection.isLoggedOut = answer.status === 401;
  return answer;
};

// Reads the page again. A reload would send the form of which the page is the answer.
const readPage = () => location.replace(location.pathname + location.search);

const whenSeen = (act) => document.addEventListener('visibilitychange', () => document.hidden || act());

// Many phones lose a network together: random waits keep them from returning together.
const backOff = (attempts) => Math.min(30000, 1000 * 2 ** attempts) * (0.5 + Math.random() / 2);

// Disables buttons that have moved, because a click may be meant for what was there before. They act again in the second
// half of the animation.
const rest = (buttons) => buttons?.animate({ offset: 0, filter: 'opacity(.3)', pointerEvents: 'none' }, 1000);

document.documentElement.classList.add('script');
