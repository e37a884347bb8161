// Buttons that copy what another element says. Where a browser does not allow it, there are none.
const SAID_FOR = 2_000;

async function copy(button) {
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
  const words = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => (button.textContent = words), SAID_FOR);
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
