// Clips play in place, on a stage that live updates never touch: whatever is re-ranked, replaced or added around it, the
// film goes on. Without scripts every clip is a link to its own page.
const SEEK = 2;
const LOUDER = 0.1;
const gallery = () => document.querySelector("[data-gallery]");
const stage = () => document.querySelector("[data-stage]");
const video = () => stage()?.querySelector("video") ?? null;
const cards = () => [...(gallery()?.querySelectorAll("[data-clip]") ?? [])];
const shown = () => cards().find((card) => card.dataset.clip === stage()?.dataset.shows);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function makeVideo(card) {
  const made = document.createElement("video");
  Object.assign(made, { controls: true, playsInline: true, poster: card.dataset.poster, src: card.dataset.source });
  made.setAttribute("aria-label", card.dataset.label);
  made.addEventListener("error", () => replaceSource(made));
  return made;
}

// A better copy may have taken the place of the file that is being read: go on in it at the same second.
function replaceSource(film) {
  const source = shown()?.dataset.source;
  if (!film || !source || film.getAttribute("src") === source) return;
  const [at, running] = [film.currentTime, !film.paused];
  film.src = source;
  film.addEventListener("loadedmetadata", () => (film.currentTime = Math.min(at, film.duration)), { once: true });
  if (running) start(film);
  tellOfBetterCopy();
}

function start(film) {
  // A browser may refuse to play before somebody touched the page: the film then waits under its controls.
  film.play().catch(() => {});
}

function play(card) {
  const place = stage();
  place.dataset.own = "";
  // From here on the page stays with this goal, whatever happens elsewhere in the match.
  place.closest("[data-from]").dataset.from = gallery().dataset.pinned;
  place.dataset.shows = card.dataset.clip;
  const film = makeVideo(card);
  place.querySelector("[data-screen]").replaceChildren(film);
  film.focus({ preventScroll: true });
  start(film);
  describe();
  place.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
}

// The stage itself is left alone by updates, so its words are taken from the card of the clip.
function describe() {
  for (const card of cards()) card.toggleAttribute("aria-current", card === shown());
  const [card, words] = [shown(), stage()?.querySelector("[data-words]")];
  if (card && words) words.replaceChildren(...card.querySelector("[data-words]").cloneNode(true).childNodes);
  tellOfBetterCopy();
}

function tellOfBetterCopy() {
  const [film, note, card] = [video(), stage()?.querySelector("[data-better]"), shown()];
  if (note) note.hidden = !film || !card || film.getAttribute("src") === card.dataset.source;
}

function step(difference) {
  const all = cards();
  if (!all.length) return;
  const at = Math.max(0, all.indexOf(shown()));
  play(all[(at + difference + all.length) % all.length]);
}

function toggle() {
  const film = video();
  if (!film) return step(0);
  if (film.paused) start(film);
  else film.pause();
}

function seek(seconds) {
  const film = video();
  if (film?.duration) film.currentTime = Math.max(0, Math.min(film.duration, film.currentTime + seconds));
}

function turn(difference) {
  const film = video();
  if (film) film.volume = Math.max(0, Math.min(1, film.volume + difference));
}

function fill() {
  const film = video();
  if (document.fullscreenElement) document.exitFullscreen();
  else film?.requestFullscreen?.().catch(() => {});
}

const KEYS = {
  " ": toggle,
  k: toggle,
  m: () => video() && (video().muted = !video().muted),
  f: fill,
  n: () => step(video() ? 1 : 0),
  p: () => step(-1),
};
// These also scroll the page, so they belong to the film only while there is one.
const FILM_KEYS = {
  ArrowLeft: () => seek(-SEEK),
  ArrowRight: () => seek(SEEK),
  ArrowUp: () => turn(LOUDER),
  ArrowDown: () => turn(-LOUDER),
};

function isElsewhere(target) {
  // Space on a button or a summary presses it.
  return target.closest("input, textarea, select, dialog, [contenteditable]") !== null;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !stage() || isElsewhere(event.target)) return;
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  const act = KEYS[event.key] ?? (video() ? FILM_KEYS[event.key] : undefined);
  if (!act) return;
  event.preventDefault();
  act();
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !stage()) return;
  if (event.target.closest("[data-better]")) return replaceSource(video());
  if (!event.target.closest("[data-play]")) return;
  const card = event.target.closest("[data-clip]") ?? shown();
  if (!card) return;
  event.preventDefault();
  play(card);
});

/* Cards that change places glide to where they belong, so that a new order is seen and not only found */

let places = new Map();
addEventListener("pressbox:before", () => {
  places = new Map(cards().map((card) => [card.id, card.getBoundingClientRect()]));
});
addEventListener("pressbox:after", () => {
  describe();
  for (const card of cards()) {
    const before = places.get(card.id);
    if (!before || calm.matches) continue;
    const now = card.getBoundingClientRect();
    const [x, y] = [before.left - now.left, before.top - now.top];
    if (x || y) card.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 400, easing: "ease-out" });
  }
});
