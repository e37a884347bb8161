// The first steps on the first page: a field that answers as somebody types, and forms that are sent without leaving it.
const PAUSE = 200;

function say(step, text) {
  const said = step.querySelector("[data-said]");
  if (said) said.textContent = text;
}

async function answerAsTyped(form) {
  const old = document.getElementById(form.dataset.answers);
  form.asking?.abort();
  form.asking = new AbortController();
  const query = new URLSearchParams(new FormData(form));
  try {
    const answer = await fetch(`${form.dataset.asTyped}?${query}`, { signal: form.asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(form.dataset.answers);
    if (fresh && old) old.replaceWith(document.adoptNode(fresh));
  } catch {
    // A later letter took its place, or the server is away: what is there stays.
  }
}

// What was sent is followed by another page; what is wrong is said on the page that comes instead.
async function send(form) {
  const step = form.closest(".first-step");
  say(step, form.dataset.waiting ?? "");
  try {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const wrong = page.querySelector("[role=alert]");
    say(step, wrong ? wrong.textContent.trim() : "");
    if (!wrong && answer.ok) dispatchEvent(new CustomEvent("pressbox:stir"));
  } catch {
    form.submit();
  }
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("[data-as-typed]");
  if (!form) return;
  clearTimeout(form.waiting);
  form.waiting = setTimeout(() => answerAsTyped(form), PAUSE);
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.closest(".first-step")) return;
  if ("asTyped" in form.dataset) {
    // Enter takes the best answer; without any the page of the search opens.
    clearTimeout(form.waiting);
    event.preventDefault();
    await answerAsTyped(form);
    const first = document.querySelector(`#${CSS.escape(form.dataset.answers)} form[data-star]`);
    return first ? send(first) : form.submit();
  }
  if ("here" in form.dataset || "star" in form.dataset) {
    event.preventDefault();
    send(form);
  }
});
