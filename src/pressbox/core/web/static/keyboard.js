// Keys: `/` searches, `g` and a letter goes somewhere, `?` lists them. A page adds its own with `data-press="x"`.
const PATIENCE = 1_500;
let waitingForPlace = 0;

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function goTo(letter) {
  if (letter === "h") return location.assign("/");
  document.querySelector(`a[data-key="${CSS.escape(letter)}"]`)?.click();
}

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
  if (event.key === "g") waitingForPlace = Date.now() + PATIENCE;
  else if (event.key === "?") showKeys();
  else if (event.key === "/") focusSearch(event);
  else document.querySelector(`[data-press="${CSS.escape(event.key)}"]`)?.click();
}

function focusSearch(event) {
  const search = document.getElementById("search");
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
