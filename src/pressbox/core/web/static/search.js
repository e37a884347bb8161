// The field of the top line as a combo box: a list of what is found, as somebody types. Without it Enter opens the page.
const PAUSE = 120;

const field = document.getElementById("search");
const list = document.getElementById("search-list");
let waiting = null;
let asking = null;
let chosen = -1;

const options = () => [...list.querySelectorAll("[role=option]")];

function choose(number) {
  const all = options();
  chosen = all.length ? (number + all.length + 1) % (all.length + 1) : -1;
  // One step beyond either end is the field itself.
  if (chosen === all.length) chosen = -1;
  all.forEach((option, place) => option.setAttribute("aria-selected", String(place === chosen)));
  const option = all[chosen];
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function show(open) {
  list.hidden = !open;
  field.setAttribute("aria-expanded", String(open));
  if (!open) choose(-1);
}

function close() {
  clearTimeout(waiting);
  asking?.abort();
  show(false);
}

async function ask() {
  asking?.abort();
  if (!field.value.trim()) return close();
  const mine = (asking = new AbortController());
  list.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`/search/part?${new URLSearchParams({ q: field.value })}`, { signal: mine.signal });
    if (!answer.ok) return close();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("found-list");
    if (!found || mine.signal.aborted) return;
    list.replaceChildren(...[...found.children].map((child) => document.adoptNode(child)));
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
    show(document.activeElement === field);
    list.removeAttribute("aria-busy");
  } catch {
    // A later letter took its place, or the server is away: Enter still opens the page.
  }
}

function press(event) {
  const open = !list.hidden;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (!open) return options().length ? show(true) : ask();
    choose(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? options().length - 1 : chosen - 1);
  } else if (event.key === "Enter" && open && chosen >= 0) {
    event.preventDefault();
    options()[chosen].click();
  } else if (event.key === "Escape" && open) {
    event.preventDefault();
    close();
  }
}

export function listenToSearch() {
  if (!field || !list) return;
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-controls", list.id);
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  });
  field.addEventListener("keydown", press);
  field.form.addEventListener("submit", close);
  // A click on a line must not close the list before it counts.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  field.addEventListener("blur", () => show(false));
}
