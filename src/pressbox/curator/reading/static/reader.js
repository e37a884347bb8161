// The reader without waiting: articles open beside the list, states change in place, and every key has its meaning.
// Without it all of this works by plain links and forms.
import { isGoingSomewhere, isTyping, meaningOf } from "./keyboard.js";

const reader = document.querySelector("[data-reader]");
const pane = document.querySelector("[data-article-pane]");
const KEPT = 6;
const KEPT_FOR = 60_000;
// Far enough below the visible part that the next lines are there before they are reached.
const AHEAD = "600px";
const kept = new Map();
let chosen = openEntry();
let listScroll = 0;
let asked = 0;

/* What is where */

const rows = () => [...reader.querySelectorAll("[data-entries] > [data-entry]")];
const rowOf = (id) => reader.querySelector(`[data-entries] > [data-entry="${CSS.escape(id)}"]`);
const addressOf = (row) => row.querySelector("a").getAttribute("href");
const isNarrow = () => matchMedia("(max-width: 60rem)").matches;

function openEntry() {
  return pane.querySelector("article[data-entry]")?.dataset.entry ?? null;
}

function partAddress(address, peek) {
  const url = new URL(address, location.href);
  url.pathname += "/part";
  if (peek) url.searchParams.set("peek", "1");
  url.hash = "";
  return url.pathname + url.search;
}

function toast(text) {
  const said = document.createElement("div");
  said.className = "toast bad";
  said.textContent = text;
  document.querySelector("[data-toasts]").append(said);
  setTimeout(() => said.remove(), 8_000);
}

async function ask(address, options = {}) {
  const answer = await fetch(address, { ...options, headers: { Accept: "text/html", "X-Part": "1" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) throw new Error(page.querySelector("main")?.textContent.trim().slice(0, 200) || String(answer.status));
  return page;
}

/* Choosing and opening */

function choose(id, { scroll = true } = {}) {
  chosen = id;
  for (const row of rows()) {
    const is = row.dataset.entry === id;
    row.toggleAttribute("data-chosen", is);
    if (is && scroll) row.scrollIntoView({ block: "nearest" });
  }
}

function take(address) {
  const found = kept.get(address);
  kept.delete(address);
  return found && Date.now() - found.at < KEPT_FOR ? found.page : null;
}

async function prepareNext(id) {
  const all = rows();
  const next = all[all.findIndex((row) => row.dataset.entry === id) + 1];
  if (!next || kept.has(addressOf(next))) return;
  const address = addressOf(next);
  try {
    kept.set(address, { at: Date.now(), page: await ask(partAddress(address, true)) });
    while (kept.size > KEPT) kept.delete(kept.keys().next().value);
  } catch {
    // It was only a guess; whoever opens it hears why.
  }
}

async function open(row, { push = true } = {}) {
  const address = addressOf(row);
  const id = row.dataset.entry;
  const turn = ++asked;
  choose(id);
  let page = take(address);
  const peeked = Boolean(page);
  try {
    page ??= await ask(partAddress(address));
  } catch (error) {
    return toast(error.message);
  }
  // Somebody who holds the key down wants the last one, not each.
  if (turn !== asked) return;
  if (isNarrow() && reader.dataset.pane === "list") listScroll = scrollY;
  show(page);
  if (push) history.pushState({ entry: id }, "", address);
  row.toggleAttribute("data-read", true);
  if (peeked) await change(id, { read: "yes" });
  prepareNext(id);
}

// Another side of the article that is open.
async function openTab(address, { push = true } = {}) {
  const turn = ++asked;
  let page;
  try {
    page = await ask(partAddress(address));
  } catch (error) {
    return toast(error.message);
  }
  if (turn !== asked) return;
  show(page);
  chosen = openEntry();
  choose(chosen, { scroll: false });
  if (push) history.pushState({ entry: chosen }, "", address);
}

function show(page) {
  pane.replaceChildren(...[...page.body.childNodes].map((node) => document.adoptNode(node)));
  reader.dataset.pane = "article";
  const title = pane.querySelector("h1")?.textContent;
  if (title) document.title = `${title} · Pressbox`;
  scrollTo(0, 0);
  reachWideParts();
  dispatchEvent(new CustomEvent("pressbox:parts"));
}

// What is wider than the column scrolls inside it, and keys scroll only what they can reach.
function reachWideParts() {
  for (const part of pane.querySelectorAll(".article :is(table, pre)")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

function step(by, opens) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.dataset.entry === chosen);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  if (next.dataset.entry === chosen && at >= 0 && (!opens || openEntry() === chosen)) return;
  if (next === all.at(-1)) reader.querySelector("[data-more]") && loadMore();
  if (opens) open(next);
  else choose(next.dataset.entry);
}

/* Changing states */

function put(page) {
  const fresh = page.body.firstElementChild;
  const old = fresh && document.getElementById(fresh.id);
  if (old) old.replaceWith(document.adoptNode(fresh));
  if (fresh?.dataset.acts) showState(fresh);
}

function showState(acts) {
  const row = rowOf(acts.dataset.acts);
  for (const name of ["data-read", "data-starred"]) row?.toggleAttribute(name, acts.hasAttribute(name));
  if (row) row.dataset.preference = acts.dataset.preference;
}

async function change(id, values) {
  try {
    put(await ask(`/reader/entries/${id}/state`, { method: "POST", body: new URLSearchParams(values) }));
  } catch (error) {
    toast(error.message);
  }
}

async function send(form, submitter) {
  try {
    const body = new URLSearchParams(new FormData(form, submitter));
    put(await ask(form.action, { method: "POST", body }));
    pane.querySelector(`#${CSS.escape(form.closest("[data-labels]")?.id ?? "none")} [data-new-label]`)?.focus();
  } catch (error) {
    toast(error.message);
  }
}

function toggle(row, key) {
  const { entry, preference } = row.dataset;
  const has = (name) => row.hasAttribute(name);
  if (key === "m") return change(entry, { read: has("data-read") ? "no" : "yes" });
  if (key === "f") return change(entry, { starred: has("data-starred") ? "no" : "yes" });
  const wanted = key === "u" ? "1" : "-1";
  return change(entry, { preference: preference === wanted ? "0" : wanted });
}

/* More of the list */

let loading = false;
async function loadMore() {
  const more = reader.querySelector("[data-more]");
  if (!more || loading) return;
  loading = true;
  try {
    const page = await ask(more.href);
    const list = reader.querySelector("[data-entries]");
    for (const line of page.querySelectorAll("[data-entries] > [data-entry]")) {
      if (!document.getElementById(line.id)) list.append(document.adoptNode(line));
    }
    const following = page.querySelector("#more-entries");
    const old = document.getElementById("more-entries");
    if (following) old.replaceWith(document.adoptNode(following));
    else old.remove();
    const part = list.closest("[data-follow]");
    const from = new URL(part.dataset.from, location.href);
    from.searchParams.set("shown", String(rows().length));
    part.dataset.from = from.pathname + from.search;
    watchMore();
  } catch (error) {
    toast(error.message);
  } finally {
    loading = false;
  }
}

const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && loadMore(), { rootMargin: AHEAD });
function watchMore() {
  watcher.disconnect();
  const more = reader.querySelector("[data-more]");
  if (more) watcher.observe(more);
}

/* Keys, clicks, and the way back */

const KEYS = {
  j: () => step(1, true),
  k: () => step(-1, true),
  n: () => step(1, false),
  p: () => step(-1, false),
  o: () => chosen && rowOf(chosen) && open(rowOf(chosen)),
};

document.addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isGoingSomewhere()) return;
    if (document.querySelector("dialog[open]")) return;
    const elsewhere = chosen && chosen !== openEntry() && rowOf(chosen);
    const key = meaningOf(event);
    if (KEYS[key]) KEYS[key]();
    else if (key === "Enter" && !event.target.closest("a, button, summary")) KEYS.o();
    else if (elsewhere && ["m", "f", "u", "d"].includes(key)) toggle(elsewhere, key);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

reader.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const line = event.target.closest(".entry-line");
  const labels = event.target.closest("[data-to-labels]");
  const tab = event.target.closest("a[data-tab]");
  if (tab) {
    event.preventDefault();
    openTab(tab.getAttribute("href"));
  } else if (line) {
    event.preventDefault();
    open(line.closest("[data-entry]"));
  } else if (labels) {
    event.preventDefault();
    const field = pane.querySelector("[data-new-label]");
    field.scrollIntoView({ block: "center" });
    field.focus();
  }
});

reader.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-state-form], [data-part-form]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

addEventListener("popstate", () => {
  const id = location.pathname.match(/^\/reader\/entries\/(\d+)$/)?.[1];
  const row = id && rowOf(id);
  if (id && (id === openEntry() || new URLSearchParams(location.search).has("tab"))) return openTab(location.href, { push: false });
  if (row) return open(row, { push: false });
  if (id) return location.reload();
  reader.dataset.pane = "list";
  if (isNarrow()) scrollTo(0, listScroll);
});

// The stream writes what the server knows; which line is chosen only this page knows.
addEventListener("pressbox:after", () => {
  choose(chosen, { scroll: false });
  watchMore();
});

addEventListener("resize", reachWideParts);
reachWideParts();
if (chosen) rowOf(chosen)?.scrollIntoView({ block: "nearest" });
watchMore();
