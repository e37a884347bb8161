// What every page has: times that stay true, keys, the count of what runs, the colour switch. Pages work without it.
import { keepTimes } from "./times.js";
import { listenToKeys } from "./keyboard.js";
import { listenToSearch } from "./search.js";
import { showRunning, showUnread } from "./pulse.js";
import { greetWorker } from "./phone.js";

const SUMMARY_EVERY = 15_000;
const YEAR = 31_536_000;

function setCookie(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; Max-Age=${value ? YEAR : 0}; SameSite=Lax${secure}`;
}

async function askWhatRuns() {
  if (document.visibilityState !== "visible") return;
  try {
    const answer = await fetch("/api/activity/summary", { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const counts = await answer.json();
    showUnread(counts);
    // The activity page counts what runs by itself, from the stream.
    if (!document.querySelector("[data-tree]")) showRunning(counts);
  } catch {
    // The server is away: the count stays as it is and the next round asks again.
  }
}

function offerSchemes() {
  const form = document.querySelector("[data-scheme-switch]");
  form.hidden = false;
  form.elements.scheme.addEventListener("change", (event) => {
    const scheme = event.target.value;
    setCookie("pressbox_scheme", scheme);
    if (scheme) document.documentElement.dataset.scheme = scheme;
    else delete document.documentElement.dataset.scheme;
  });
}

function rememberZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.includes(`pressbox_zone=${zone}`)) setCookie("pressbox_zone", zone);
}

// A name that is cut is told whole to whoever points at it.
function nameWhole({ target }) {
  for (let element = target, up = 0; element instanceof HTMLElement && up < 3; element = element.parentElement, up += 1) {
    if (element.scrollWidth <= element.clientWidth || getComputedStyle(element).textOverflow !== "ellipsis") continue;
    if (!element.closest("[title]")) element.title = element.textContent.trim();
    return;
  }
}

addEventListener("pointerover", nameWhole);
rememberZone();
keepTimes();
listenToKeys();
listenToSearch();
offerSchemes();
greetWorker();
if (document.querySelector("[data-pulse]")) {
  askWhatRuns();
  setInterval(askWhatRuns, SUMMARY_EVERY);
  document.addEventListener("visibilitychange", askWhatRuns);
  // A part of the page that lives heard of something: the counts may be other ones now.
  addEventListener("pressbox:after", askWhatRuns);
}
