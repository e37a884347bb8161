// The counts of the top line: how much is unread and how much runs, and whether something failed.
export function showUnread({ unread }) {
  const count = document.querySelector("[data-unread-count] b");
  const text = unread > 0 ? String(unread) : "";
  if (count && count.textContent !== text) count.textContent = text;
  // On the icon of the installed application; elsewhere browsers refuse.
  navigator.setAppBadge?.(unread).catch(() => {});
}

export function showRunning({ running, failed }) {
  const pulse = document.querySelector("[data-pulse]");
  if (!pulse) return;
  pulse.toggleAttribute("data-running", running > 0);
  pulse.toggleAttribute("data-failed", failed > 0);
  const count = pulse.querySelector("b");
  const text = running > 0 ? String(running) : "";
  if (count.textContent !== text) count.textContent = text;
}
