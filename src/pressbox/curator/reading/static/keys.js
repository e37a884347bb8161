// The page on which a reader chooses keys. They are kept in this browser; the form is not sent anywhere.
import { keepOwnKeys, ownKeys } from "./keyboard.js";

const form = document.querySelector("[data-keys]");
const fields = [...form.querySelectorAll("input[data-usual]")];
const saying = form.querySelector("[data-said]");

function show() {
  const chosen = Object.entries(ownKeys());
  for (const field of fields) field.value = chosen.find(([, usual]) => usual === field.dataset.usual)?.[0] ?? field.dataset.usual;
}

function chosenKeys() {
  const keys = {};
  // A usual key that means nothing any more must not go on meaning what it meant.
  for (const field of fields) if (field.value !== field.dataset.usual) keys[field.dataset.usual] = "";
  for (const field of fields) if (field.value !== field.dataset.usual) keys[field.value] = field.dataset.usual;
  return keys;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const twice = fields.find((field) => fields.some((other) => other !== field && other.value === field.value));
  for (const field of fields) field.setAttribute("aria-invalid", String(twice?.value === field.value));
  if (!twice) keepOwnKeys(chosenKeys());
  saying.textContent = twice ? saying.dataset.twice : saying.dataset.saved;
});

form.addEventListener("reset", (event) => {
  event.preventDefault();
  keepOwnKeys({});
  show();
  saying.textContent = saying.dataset.saved;
});

show();
form.hidden = false;
