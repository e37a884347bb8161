// Follows `/api/stream` from a cursor and comes back by itself: nothing is missed, and the reader sees when it is stale.
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 15_000;
// A connection ends every ten minutes by design; only a longer absence is worth a word.
const STALE_AFTER = 2_000;

export class LiveStream {
  #source = null;
  #pause = FIRST_PAUSE;
  #staleTimer = null;
  #timer = null;

  /** `on` has change(message), reload(), state("live" | "stale", lastHeard) */
  constructor(topics, cursor, on) {
    this.topics = topics;
    this.cursor = cursor;
    this.on = on;
    this.lastHeard = new Date();
  }

  open() {
    clearTimeout(this.#timer);
    const address = `/api/stream?topics=${encodeURIComponent(this.topics)}&cursor=${this.cursor}`;
    this.#source = new EventSource(address);
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
  }

  #heard(event) {
    if (event.lastEventId) this.cursor = event.lastEventId;
    this.lastHeard = new Date();
    this.#pause = FIRST_PAUSE;
    clearTimeout(this.#staleTimer);
    this.#staleTimer = null;
    this.on.state("live", this.lastHeard);
  }

  // The browser would give up after an answer like 503, so we do the coming back ourselves.
  #lost() {
    this.#source.close();
    this.#staleTimer ??= setTimeout(() => this.on.state("stale", this.lastHeard), STALE_AFTER);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.open(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }
}
