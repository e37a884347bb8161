// The page without network: it asks the service worker what is kept for this address and draws it.
import { clock } from "./times.js";

const place = document.querySelector("[data-offline]");
const content = place.querySelector("[data-offline-content]");
const words = place.dataset;

function ask(question) {
  const worker = navigator.serviceWorker?.controller;
  if (!worker) return Promise.resolve(null);
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data.said ?? null);
    worker.postMessage(question, [port2]);
  });
}

function make(name, { text, ...attributes } = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : value);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

const facts = ({ detail, at }) => [detail, at && clock(new Date(at))].filter(Boolean).join(" · ");

function line(thing) {
  const unread = thing.entry !== null && !thing.read;
  return make("li", {}, make("a", { href: thing.path, "data-unread": unread }, make("b", { text: thing.title }), make("span", { text: facts(thing) })));
}

function section({ name, title, things }) {
  const heading = make("h2", { id: `kept-${name}`, text: title });
  const list = things.length ? make("ul", {}, ...things.map(line)) : make("p", { class: "quiet", text: words.empty });
  return make("section", { "aria-labelledby": `kept-${name}` }, heading, list);
}

function act(thing, name, label) {
  const button = make("button", { type: "button", "aria-pressed": String(thing[name]), text: label });
  button.addEventListener("click", async () => {
    button.disabled = true;
    draw(await ask({ kind: "mark", path: thing.path, entry: thing.entry, change: { [name]: !thing[name] } }));
  });
  return button;
}

function article(thing) {
  const body = make("article");
  // Sanitised on the server; parsed without running anything, and the policy of the page forbids scripts in it anyway.
  body.append(...new DOMParser().parseFromString(thing.html, "text/html").body.childNodes);
  const acts = thing.entry === null ? [] : [make("div", { class: "offline-acts" }, act(thing, "read", words.read), act(thing, "starred", words.star))];
  const back = make("p", { class: "offline-back" }, make("a", { href: "/", text: words.all }));
  return [make("h1", { text: thing.title }), make("p", { class: "quiet", text: facts(thing) }), ...acts, body, back];
}

function list({ groups, madeAt }) {
  const heading = make("h1", { text: words.heading });
  if (!madeAt) return [heading, make("p", { class: "lead", text: words.nothing })];
  const here = groups.filter((group) => location.pathname === group.path);
  const shown = here.length ? here : groups;
  const absent = !here.length && location.pathname !== "/" && location.pathname !== "/offline";
  return [heading, ...(absent ? [make("p", { class: "lead", text: words.absent })] : []), ...shown.map(section)];
}

function draw(kept) {
  if (!kept) return;
  const said = place.querySelector("[data-offline-as-of]");
  said.textContent = kept.madeAt ? said.dataset.offlineAsOf.replace("%s", clock(new Date(kept.madeAt))) : said.dataset.offlinePlain;
  place.querySelector("[data-offline-waiting]").textContent = kept.waiting ? words.waiting.replace("%s", kept.waiting) : "";
  content.replaceChildren(...(kept.thing ? article(kept.thing) : list(kept)));
}

const kept = await ask({ kind: "look", path: location.pathname });
draw(kept);
// Opening an article reads it, as in the reader.
if (kept?.thing && kept.thing.entry !== null && !kept.thing.read) {
  draw(await ask({ kind: "mark", path: kept.thing.path, entry: kept.thing.entry, change: { read: true } }));
}
place.querySelector("[data-offline-again]").addEventListener("click", () => location.reload());
// At this very address the page itself was opened, not what stands in for another.
if (location.pathname !== "/offline") addEventListener("online", () => location.reload());
