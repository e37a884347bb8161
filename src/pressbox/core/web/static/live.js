// Follows `/api/stream` from a cursor and comes back by itself: nothing is missed, and the reader sees when it is stale.
import { clock } from "./times.js";

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 15_000;
// When the server has too many streams and does not say when to come back.
const CROWDED_PAUSE = 30_000;
// A connection ends every ten minutes by design; only a longer absence is worth a word.
const STALE_AFTER = 2_000;

export class LiveStream {
  #source = null;
  #pause = FIRST_PAUSE;
  #staleTimer = null;
  #timer = null;
  #opened = false;

  /**
   * `on` has change(message), reload(), state("live" | "stale" | "crowded", lastHeard). While it is crowded the state is
   * said again and again, each time a moment to look for what changed without the stream.
   */
  constructor(topics, cursor, on) {
    this.topics = topics;
    this.cursor = cursor;
    this.on = on;
    this.lastHeard = new Date();
  }

  open() {
    clearTimeout(this.#timer);
    this.#opened = false;
    this.#source = new EventSource(this.#address());
    this.#source.addEventListener("open", () => (this.#opened = true));
    this.#source.addEventListener("hello", (event) => this.#heard(event));
    this.#source.addEventListener("fresh", (event) => this.#heard(event));
    this.#source.addEventListener("stale", () => this.on.state("stale", this.lastHeard));
    this.#source.addEventListener("change", (event) => {
      this.#heard(event);
      this.on.change(JSON.parse(event.data));
    });
    this.#source.addEventListener("reload", (event) => {
      this.close();
      this.on.reload(event.lastEventId);
    });
    this.#source.addEventListener("error", () => this.#lost());
  }

  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#staleTimer);
    this.#staleTimer = null;
    this.#source?.close();
    this.#source = null;
  }

  #heard(event) {
    if (event.lastEventId) this.cursor = event.lastEventId;
    this.lastHeard = new Date();
    this.#pause = FIRST_PAUSE;
    clearTimeout(this.#staleTimer);
    this.#staleTimer = null;
    this.on.state("live", this.lastHeard);
  }

  #address() {
    return `/api/stream?topics=${encodeURIComponent(this.topics)}&cursor=${this.cursor}`;
  }

  // The browser would give up after an answer like 503, so we do the coming back ourselves.
  async #lost() {
    const lost = this.#source;
    lost.close();
    const crowded = this.#opened ? 0 : await this.#askForRoom();
    // Somebody closed or opened the stream in the meantime.
    if (this.#source !== lost) return;
    if (crowded) {
      clearTimeout(this.#staleTimer);
      this.#staleTimer = null;
      this.on.state("crowded", this.lastHeard);
    } else {
      this.#staleTimer ??= setTimeout(() => this.on.state("stale", this.lastHeard), STALE_AFTER);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.open(), crowded || this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  // An event source does not tell why it was refused; an ordinary request does. Milliseconds to wait, or 0.
  async #askForRoom() {
    const asking = new AbortController();
    try {
      const answer = await fetch(this.#address(), { signal: asking.signal });
      if (answer.status !== 429) return 0;
      return Number(answer.headers.get("Retry-After")) * 1_000 || CROWDED_PAUSE;
    } catch {
      return 0;
    } finally {
      asking.abort();
    }
  }
}

/** What the element `words` says about the stream. */
export function stateText(words, state, lastHeard) {
  if (state === "crowded") return document.body.dataset.crowdedText;
  return state === "live" ? words.dataset.liveText : words.dataset.staleText.replace("%s", clock(lastHeard));
}
