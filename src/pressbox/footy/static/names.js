// The search for teams and leagues as somebody types, and stars that answer at once. What is known here is asked for
// with every pause in typing, which costs nothing; API-Football only where nothing is known, or when asked to search.
const PAUSE = 200;
const LONG_PAUSE = 900;

const form = document.getElementById("name-search");
const field = document.getElementById("names");
const count = document.getElementById("found-count");
let waiting = null;
// Answers can overtake each other: only the newest counts.
let newest = 0;

const stars = () => [...document.querySelectorAll("#found .star")].filter((star) => star.tagName === "BUTTON");

function put(page, ids) {
  for (const id of ids) {
    const fresh = page.getElementById(id);
    if (fresh) document.getElementById(id)?.replaceWith(document.adoptNode(fresh));
  }
  count.textContent = document.querySelector("#found [data-count]")?.textContent.trim() ?? "";
  dispatchEvent(new CustomEvent("pressbox:parts"));
}

async function load(address, ids, options = {}) {
  const mine = ++newest;
  document.getElementById("found").setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, ...options });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== newest) return false;
    // Signed out, or something that this page does not show: the whole answer is for the person.
    if (!page.getElementById("found")) location.reload();
    put(page, ids);
    return true;
  } catch {
    document.getElementById("found").removeAttribute("aria-busy");
    return false;
  }
}

const body = (values) => new URLSearchParams(values);
const ask = () => load(form.action, ["found", "said"], { method: "POST", body: body({ q: field.value }) });

function remember() {
  const address = new URL(location.href);
  address.search = field.value ? body({ q: field.value }) : "";
  history.replaceState(null, "", address);
}

async function search() {
  remember();
  if (!(await load(`/footy/follow/found?${body({ q: field.value })}`, ["found"]))) return;
  const found = document.getElementById("found");
  if ("mayAsk" in found.dataset && !stars().length) waiting = setTimeout(ask, LONG_PAUSE);
}

field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, PAUSE);
});

form.addEventListener("submit", (event) => {
  if (form.method !== "post") return;
  event.preventDefault();
  clearTimeout(waiting);
  remember();
  ask();
});

document.addEventListener("submit", async (event) => {
  const chosen = event.target.closest("[data-star]");
  if (!chosen) return;
  event.preventDefault();
  clearTimeout(waiting);
  const id = chosen.querySelector("button").id;
  const values = new FormData(chosen);
  values.set("q", field.value);
  await load(chosen.action, ["found", "followed", "said"], { method: "POST", body: body(values) });
  (document.getElementById(id) ?? field).focus();
});

// From the field into the list and back with the arrows.
form.parentElement.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const places = [field, ...stars()];
  const at = places.indexOf(document.activeElement);
  const next = places[at + step];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
});
