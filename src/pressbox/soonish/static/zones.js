// Says a time in the reader's own zone beside the zone of the event; silent where both clocks show the same.
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

function wall(moment, timeZone) {
  return new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" }).format(moment);
}

for (const place of document.querySelectorAll("[data-own-zone]")) {
  const time = place.querySelector("time");
  const moment = new Date(time.dateTime);
  place.hidden = !own || wall(moment, own) === wall(moment, place.dataset.ownZone);
  const words = { timeZone: own, weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  time.textContent = new Intl.DateTimeFormat(language, words).format(moment);
  place.querySelector("[data-zone-name]").textContent = own;
}
for (const choice of document.querySelectorAll("select[data-choose-zone]")) {
  if ([...choice.options].some((option) => option.value === own)) choice.value = own;
}
