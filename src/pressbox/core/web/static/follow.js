// Keeps `[data-follow]` parts of a page true: when one of its topics changes, the part is fetched again and only what
// differs is written. The stream says that something changed, never what: the fetch asks with the reader's own rights.
import { LiveStream, stateText } from "./live.js";

// Several changes in a row are one fetch.
const GATHER = 250;
// Until a part is asked for again that the server could not give.
const AGAIN = 3000;
const saying = document.querySelector("[data-live]");
let stream = null;
let waiting = null;
// Parts that a change has touched since they were last asked for.
const stirred = new Set();

const parts = () => [...document.querySelectorAll("[data-follow]")];
const topics = () => parts().flatMap((part) => part.dataset.follow.split(",")).filter(Boolean);

function sync(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) return old.replaceWith(fresh.cloneNode(true));
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.isEqualNode(fresh) || old.hasAttribute("data-own")) return;
  const arriving = old.classList.contains("arrived");
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  // What came a moment ago keeps its tint, though something else about it changed since.
  if (arriving) old.classList.add("arrived");
  syncChildren(old, fresh);
}

function syncChildren(old, fresh) {
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted.id && document.getElementById(wanted.id);
    if (wanted.id && !known) {
      const arrived = wanted.cloneNode(true);
      arrived.classList.add("arrived");
      old.insertBefore(arrived, at);
      continue;
    }
    if (known && known !== at) old.insertBefore(known, at);
    const present = known || at;
    if (!present) {
      old.append(wanted.cloneNode(true));
      continue;
    }
    at = present.nextSibling;
    sync(present, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Whether it is done with: what the server fails to give is asked for again, what it refuses is not.
async function refresh(part) {
  try {
    const answer = await fetch(part.dataset.from, { headers: { Accept: "text/html" } });
    if (!answer.ok) return answer.status < 500;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-follow]");
    if (!fresh) return true;
    dispatchEvent(new CustomEvent("pressbox:before"));
    sync(part, fresh);
    dispatchEvent(new CustomEvent("pressbox:after"));
    return true;
  } catch {
    return false;
  }
}

function stir({ kind, key }) {
  const concerns = (topic) => topic === kind || topic === `${kind}:${key}`;
  for (const part of parts()) if (part.dataset.follow.split(",").some(concerns)) stirred.add(part);
  // A page that shows much of everything may wait a little longer.
  if (stirred.size) gather(Math.min(...[...stirred].map((part) => Number(part.dataset.pause) || GATHER)));
}

function stirAll() {
  parts().forEach((part) => stirred.add(part));
  gather();
}

function gather(pause = GATHER) {
  waiting ??= setTimeout(async () => {
    const before = topics().join();
    const touched = parts().filter((part) => stirred.has(part));
    stirred.clear();
    const done = await Promise.all(touched.map(refresh));
    const failed = touched.filter((_, place) => !done[place]);
    failed.forEach((part) => stirred.add(part));
    waiting = null;
    // What changed while the answer was on its way is asked for again; two answers at once could overtake each other.
    if (stirred.size) gather(failed.length ? AGAIN : GATHER);
    if (topics().join() !== before) follow();
  }, pause);
}

function say(state, heard) {
  if (state === "crowded") stirAll();
  if (!saying) return;
  const text = stateText(saying, state, heard);
  saying.classList.toggle("stale", state !== "live");
  if (saying.textContent !== text) saying.textContent = text;
}

function follow() {
  stream?.close();
  if (!topics().length) return;
  const cursor = stream?.cursor ?? parts()[0].dataset.cursor;
  stream = new LiveStream(topics().join(), cursor, {
    change: stir,
    reload(newest) {
      stream.cursor = newest || stream.cursor;
      stirAll();
      stream.open();
    },
    state: say,
  });
  stream.open();
}

// Who wants scores later hears of nothing early: such a part asks again by itself, whatever happens meanwhile.
for (const part of document.querySelectorAll("[data-again]")) {
  setInterval(() => {
    if (document.hidden || !part.isConnected) return;
    stirred.add(part);
    gather();
  }, 1000 * Number(part.dataset.again));
}

addEventListener("animationend", (event) => event.animationName.startsWith("tint") && event.target.classList.remove("arrived"));
// A page that puts another part in by itself says so.
addEventListener("pressbox:parts", follow);
// Somebody did something here that changes what is shown.
addEventListener("pressbox:stir", stirAll);
follow();
