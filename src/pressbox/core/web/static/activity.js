// The activity page, alive: rows change in place, new ones arrive under their parent, finished ones fold away.
import { showRunning } from "./pulse.js";
import { LiveStream, stateText } from "./live.js";
import { clock, duration } from "./times.js";

const TROUBLE = new Set(["failed", "incomplete"]);
const ATTENTION = new Set(["running", ...TROUBLE]);
const TROUBLE_BELOW = '.node[data-state="failed"], .node[data-state="incomplete"]';
const DEEPEST_LEVEL = 3;
const FOLD_AFTER = 2_000;
const TOTALS_AFTER = 300;
// A page that stays open for days must not grow: older rows are on the workflow's own page.
const CLOSED_ROWS = 40;
// Old failures must not push what runs out of sight.
const SETTLED_TROUBLE = 5;

// Titles of work come in English, with names in them; a page in another language carries how it says them.
const PLACE = /%\((\w+)\)s/;
const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const known = JSON.parse(document.querySelector("[data-titles]").dataset.titles);
const titles = known.map(([title, words]) => {
  const parts = title.split(PLACE).map((part, place) => (place % 2 ? `(?<${part}>.+?)` : literal(part)));
  return [new RegExp(`^${parts.join("")}$`, "su"), words];
});

let tree = document.querySelector("[data-tree]");
const numbers = new Intl.NumberFormat(document.documentElement.lang);
const find = (id) => tree.querySelector(`[data-workflow="${CSS.escape(id)}"]`);
const blank = (name) => document.querySelector(`template[data-blank="${name}"]`).content.firstElementChild.cloneNode(true);
const listOf = (container, name) => container.querySelector(`:scope > [data-list="${name}"], :scope > details > [data-list="${name}"]`);

function write(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function mark(node, name) {
  const row = node.firstElementChild;
  row.classList.remove("changed", "arrived");
  void row.offsetWidth; // starts the tint again when one is still fading
  row.classList.add(name);
  row.addEventListener("animationend", (event) => event.animationName.startsWith("tint") && row.classList.remove(name));
}

function sayTitle(title) {
  for (const [pattern, words] of titles) {
    const found = pattern.exec(title);
    if (found) return words.replace(new RegExp(PLACE, "g"), (_, name) => found.groups[name]);
  }
  return title;
}

/* One row */

function fillAddresses(row, id) {
  const address = `/activity/${id.split("/").map(encodeURIComponent).join("/")}`;
  row.querySelector(".title a").href = address;
  row.querySelector(".acts form")?.setAttribute("action", `${address}/retry`);
  row.querySelector("[data-cancel]")?.setAttribute("href", `${address}/cancel`);
}

function fillProgress(row, item) {
  const cell = row.querySelector(".progress");
  cell.hidden = item.total === null && !item.done;
  const bar = cell.querySelector("progress");
  if (bar) {
    bar.ariaLabel = sayTitle(item.title);
    bar.hidden = !item.total;
    bar.max = item.total || 1;
    bar.value = Math.min(item.done, bar.max);
  }
  write(cell.querySelector("span"), numbers.format(item.done) + (item.total === null ? "" : ` / ${numbers.format(item.total)}`));
}

function fillTimes(row, item) {
  const started = row.querySelector(".started time");
  if (started && started.dateTime !== item.started_at) {
    started.dateTime = item.started_at;
    delete started.dataset.exact;
    write(started, clock(new Date(item.started_at)));
  }
  const took = row.querySelector(".took");
  if (item.closed_at) return write(took, duration((new Date(item.closed_at) - new Date(item.started_at)) / 1000));
  const since = took.querySelector("[data-since]");
  if (since) since.dataset.since = item.started_at;
}

function fillWords(row, item) {
  write(row.querySelector(".title a"), sayTitle(item.title));
  const text = TROUBLE.has(item.state) ? item.error : item.state === "running" ? item.message : "";
  const name = TROUBLE.has(item.state) ? "reason" : "says";
  let line = row.querySelector(".reason, .says");
  if (!line) {
    line = document.createElement("p");
    row.querySelector(".title").append(line);
  }
  line.className = name;
  line.hidden = !text;
  write(line, text);
}

function fill(node, item) {
  node.dataset.workflow = item.workflow_id;
  node.dataset.state = item.state;
  const row = node.firstElementChild;
  fillAddresses(row, item.workflow_id);
  fillWords(row, item);
  fillProgress(row, item);
  fillTimes(row, item);
}

/* Places in the tree */

function listFor(container, name) {
  const list = listOf(container, name);
  if (list) return list;
  if (name === "closed") {
    const fold = blank("fold");
    container.append(fold);
    return fold.querySelector("ul");
  }
  const made = document.createElement("ul");
  made.dataset.list = "open";
  container.firstElementChild.after(made);
  return made;
}

function setLevels(node, level) {
  node.dataset.level = Math.min(level, DEEPEST_LEVEL);
  for (const child of node.querySelectorAll(":scope > ul > .node, :scope > details > ul > .node")) setLevels(child, level + 1);
}

function mattersNow(node) {
  return ATTENTION.has(node.dataset.state) || node.querySelector(`.node[data-state="running"], ${TROUBLE_BELOW}`) !== null;
}

function isTroubled(node) {
  return TROUBLE.has(node.dataset.state) || node.querySelector(TROUBLE_BELOW) !== null;
}

function isSettledTrouble(node) {
  return isTroubled(node) && node.dataset.state !== "running" && !node.querySelector('.node[data-state="running"]');
}

function foldEarlierTrouble() {
  const earlier = listOf(tree, "failed");
  const settled = [...listFor(tree, "open").children].filter(isSettledTrouble);
  for (const node of settled.slice(SETTLED_TROUBLE)) {
    earlier.prepend(node);
    countFold(earlier, +1);
  }
}

function isInOrder(node, trouble) {
  const neighbour = trouble ? node.previousElementSibling : node.nextElementSibling;
  return !neighbour || isTroubled(neighbour) === trouble;
}

function countFold(list, difference) {
  const fold = list?.closest("details");
  if (!fold || list.dataset.list === "open") return;
  const count = fold.querySelector(":scope > summary [data-fold-count]");
  const now = Math.max(0, Number(fold.dataset.count ?? count.textContent.replace(/\D/g, "")) + difference);
  fold.dataset.count = now;
  write(count, numbers.format(now));
  fold.hidden = now === 0;
}

function place(node, container, name) {
  const list = listFor(container, name);
  const trouble = isTroubled(node);
  if (node.parentElement?.dataset.list === "failed" && isSettledTrouble(node)) return;
  if (node.parentElement === list && (name === "closed" || isInOrder(node, trouble))) return;
  countFold(node.parentElement, -1);
  // Trouble first; then, at the top, the newest; below a parent in the order of arrival.
  const calm = [...list.children].find((other) => other !== node && !isTroubled(other));
  const before = trouble || name === "closed" ? list.firstElementChild : container === tree ? calm : null;
  list.insertBefore(node, before === node ? node.nextElementSibling : (before ?? null));
  countFold(list, +1);
  if (name === "closed" && list.childElementCount > CLOSED_ROWS) list.lastElementChild.remove();
}

function settle(node) {
  const parent = node.dataset.parent ? find(node.dataset.parent) : node.parentElement?.closest(".node");
  const container = parent && parent !== node && !node.contains(parent) ? parent : tree;
  const waits = container === tree && node.dataset.state === "planned";
  place(node, container, mattersNow(node) ? "open" : waits ? "planned" : "closed");
  setLevels(node, container === tree ? 0 : Number(container.dataset.level) + 1);
  if (container !== tree) settle(container);
  else foldEarlierTrouble();
  tree.querySelector("[data-quiet]").hidden = listFor(tree, "open").childElementCount > 0;
}

function adopt(node) {
  // Children that reported before their parent stand at the top until it comes.
  for (const child of tree.querySelectorAll(`[data-parent="${CSS.escape(node.dataset.workflow)}"]`)) {
    if (child.parentElement.closest(".node") !== node) settle(child);
  }
}

/* Changes */

function showTotals({ running, failed }) {
  for (const [name, value] of Object.entries({ running, failed })) {
    write(document.querySelector(`[data-total="${name}"]`), numbers.format(value));
    document.querySelector(`[data-state-of="${name}"]`).dataset.state = value ? name : "completed";
  }
  showRunning({ running, failed });
}

// The page draws only a part of a large tree, so totals come from the server, once per burst of changes.
let totalsTimer = null;
function countSoon() {
  totalsTimer ??= setTimeout(async () => {
    totalsTimer = null;
    try {
      const answer = await fetch("/api/activity/summary");
      if (answer.ok) showTotals(await answer.json());
    } catch {
      // The server is away; the stream says so, and its return brings new changes.
    }
  }, TOTALS_AFTER);
}

function arrive(item) {
  const node = blank(item.state);
  if (item.parent_workflow_id) node.dataset.parent = item.parent_workflow_id;
  fill(node, item);
  settle(node);
  adopt(node);
  mark(node, "arrived");
  return node;
}

function change(node, item) {
  const before = node.dataset.state;
  // A row is drawn for its state; one that ran without a total has no bar to fill.
  const bare = item.state === "running" && item.total && !node.querySelector(":scope > .row progress");
  if (before !== item.state || bare) node.firstElementChild.replaceWith(blank(item.state).firstElementChild);
  if (item.parent_workflow_id) node.dataset.parent = item.parent_workflow_id;
  fill(node, item);
  if (before === item.state) return;
  mark(node, "changed");
  // What just ended stays long enough to be seen ending.
  if (ATTENTION.has(item.state) || item.state === "planned") settle(node);
  else setTimeout(() => node.isConnected && settle(node), FOLD_AFTER);
}

function receive({ key, item }) {
  const node = find(key);
  if (item === null) return forget(node);
  if (node?.dataset.state !== item.state) countSoon();
  if (node) change(node, item);
  else arrive(item);
}

function forget(node) {
  if (!node) return;
  countSoon();
  countFold(node.parentElement, -1);
  node.remove();
}

/* The stream and its word */

const words = document.querySelector("[data-live]");

function showState(state, lastHeard) {
  words.className = state === "live" ? "quiet" : "stale";
  write(words, stateText(words, state, lastHeard));
  if (state === "stale") askWhetherSignedIn();
  if (state === "crowded") redraw().catch(() => {});
}

// An event source does not tell why it was refused; an ordinary request does.
async function askWhetherSignedIn() {
  const answer = await fetch("/api/activity/summary").catch(() => null);
  if (answer?.status !== 401) return;
  stream.close();
  write(words, words.dataset.offText);
}

async function reload() {
  try {
    await redraw();
    follow();
  } catch {
    setTimeout(reload, 5_000);
  }
}

async function redraw() {
  const answer = await fetch(location.href);
  // A busy server is asked again later; a refusal is for the whole page to show.
  if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText);
  if (answer.redirected || !answer.ok) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const unfolded = tree.querySelector("[data-root-fold]").open;
  tree.replaceWith(document.adoptNode(page.querySelector("[data-tree]")));
  tree = document.querySelector("[data-tree]");
  tree.querySelector("[data-root-fold]").open = unfolded;
  document.querySelector(".totals").replaceWith(document.adoptNode(page.querySelector(".totals")));
  stream.cursor = tree.dataset.cursor;
  countSoon();
}

let stream = null;

function follow() {
  stream = new LiveStream("workflow", tree.dataset.cursor, {
    change: receive,
    reload,
    state: showState,
  });
  stream.open();
}

// A page that goes into the back-forward cache must not hold a connection.
addEventListener("pagehide", () => stream.close());
addEventListener("pageshow", (event) => event.persisted && reload());

/* Cancel asks first, in place */

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-cancel]");
  const dialog = document.getElementById("cancel");
  if (!link || !dialog) return;
  event.preventDefault();
  dialog.querySelector("form").action = link.getAttribute("href");
  write(dialog.querySelector("[data-cancel-name]"), link.closest(".row").querySelector(".title a").textContent);
  dialog.showModal();
});
document.querySelector("#cancel [data-keep]")?.addEventListener("click", () => document.getElementById("cancel").close());

countSoon();
follow();
