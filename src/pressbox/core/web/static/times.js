// Keeps `<time data-time>` true while a page stays open, in the reader's own zone and language.
const EVERY = 1_000;
const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const relativeWords = new Intl.RelativeTimeFormat(language, { numeric: "always" });
const clockWords = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
const dayWords = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
const yearWords = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" });
const exactWords = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });

export function relative(moment, now = new Date()) {
  const seconds = (moment - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
  return relativeWords.format(Math.round(seconds / size), unit);
}

export function clock(moment, now = new Date()) {
  const time = clockWords.format(moment);
  if (moment.toDateString() === now.toDateString()) return time;
  const words = moment.getFullYear() === now.getFullYear() ? dayWords : yearWords;
  return `${words.format(moment)}, ${time}`;
}

export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value) => String(value).padStart(2, "0");
  if (whole >= 86_400) return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function refresh() {
  const now = new Date();
  for (const element of document.querySelectorAll("[data-time]")) {
    const moment = new Date(element.dateTime);
    write(element, element.dataset.time === "clock" ? clock(moment, now) : relative(moment, now));
    if (!element.dataset.exact) {
      element.title = exactWords.format(moment);
      element.dataset.exact = "1";
    }
  }
  for (const element of document.querySelectorAll("[data-since]")) {
    write(element, duration((now - new Date(element.dataset.since)) / 1000));
  }
}

export function keepTimes() {
  refresh();
  setInterval(() => document.visibilityState === "visible" && refresh(), EVERY);
  document.addEventListener("visibilitychange", refresh);
}
