// The quiet dot of the top line: how much runs, and whether something failed.
export function showRunning({ running, failed }) {
  const pulse = document.querySelector("[data-pulse]");
  if (!pulse) return;
  pulse.toggleAttribute("data-running", running > 0);
  pulse.toggleAttribute("data-failed", failed > 0);
  const count = pulse.querySelector("b");
  const text = running > 0 ? String(running) : "";
  if (count.textContent !== text) count.textContent = text;
}
