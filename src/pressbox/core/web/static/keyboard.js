// Keys: `/` searches, `g` and a letter goes somewhere, `?` lists them. A page adds its own with `data-press="x"`.
const PATIENCE = 1_500;
const OWN_KEYS = "pressbox_keys";
let waitingForPlace = 0;

/** Keys that the reader chose: from what is pressed to what it means here. An empty meaning does nothing. */
export function ownKeys() {
  try {
    return JSON.parse(localStorage.getItem(OWN_KEYS)) ?? {};
  } catch {
    // Storage is closed or holds something else: the usual keys count.
    return {};
  }
}

export const keepOwnKeys = (keys) => localStorage.setItem(OWN_KEYS, JSON.stringify(keys));

export const meaningOf = (event) => ownKeys()[event.key] ?? event.key;

export function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function goTo(letter) {
  if (letter === "h") return location.assign("/");
  const places = [...document.querySelectorAll(`a[data-key="${CSS.escape(letter)}"]`)];
  // A letter of the frame means the same on every page.
  (places.find((place) => !place.closest("main")) ?? places[0])?.click();
}

/** Whether the key that is pressed now belongs to a `g` before it. */
export const isGoingSomewhere = () => Date.now() < waitingForPlace;

function showKeys() {
  const dialog = document.getElementById("keys");
  if (!dialog.open) dialog.showModal();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (Date.now() < waitingForPlace) {
    waitingForPlace = 0;
    event.preventDefault();
    return goTo(event.key);
  }
  const key = meaningOf(event);
  if (key === "g") waitingForPlace = Date.now() + PATIENCE;
  else if (key === "?") showKeys();
  else if (key === "/") focusSearch(event);
  else pressButton(event, key);
}

function pressButton(event, key) {
  const button = document.querySelector(`[data-press="${CSS.escape(key)}"]`);
  if (!button) return;
  // A button that leads into a field must not leave its own letter there.
  event.preventDefault();
  button.click();
}

function focusSearch(event) {
  const search = document.querySelector("main [data-seek]") ?? document.getElementById("search");
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
}

export function listenToKeys() {
  document.addEventListener("keydown", press);
  const button = document.querySelector("[data-show-keys]");
  button.hidden = false;
  button.addEventListener("click", showKeys);
}
