// Through the inbox by keyboard: `j` and `k` go from line to line, other letters press a button of the line.
import { isGoingSomewhere, isTyping, meaningOf } from "./keyboard.js";

const lines = () => [...document.querySelectorAll("#lines li")];
const here = () => document.activeElement?.closest("#lines li");

function move(step) {
  const all = lines();
  const line = here();
  const next = line ? all[all.indexOf(line) + step] : all[step > 0 ? 0 : all.length - 1];
  const link = next?.querySelector(".notice-title a");
  link?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

// Before the keys of the frame, whose `g` and a letter may end in the same letter.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isGoingSomewhere()) return;
    const key = meaningOf(event);
    if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
    here()?.querySelector(`[data-line="${CSS.escape(key)}"]`)?.click();
  },
  true,
);

// Whoever marked a line goes on from there, once the browser has gone to it: that takes the focus away.
addEventListener("load", () => {
  const line = document.getElementById(location.hash.slice(1));
  line?.querySelector(".notice-title a")?.focus({ preventScroll: true });
});
