// The service worker: keeps what can be read without network, sends later what was marked then, shows push messages.
// Served as /service-worker.js with VERSION (a hash of all our files), SHELL (what the offline page needs) and the
// words it says before this text.
const FILES = `pressbox-files-${VERSION}`;
const OFFLINE_PAGE = "/offline";
// A page that takes longer than this is replaced by what lies here, if something does.
const QUICK = 8_000;
const REFRESH_AFTER = 10 * 60_000;
// What nobody refreshed for so long is not shown any more, and is removed.
const KEPT = 7 * 24 * 3_600_000;
const SIGN_OUTS = new Set(["/sign-out", "/account/sessions/end"]);
const LEFT = new Set(["/sign-in", "/signed-out"]);
const WAIT_FOR_MARKS = 3_000;
const READER = "/reader";
const ENTRY_STATE = /^\/reader\/entries\/(\d+)\/state$/;

/* What lies here: things by their path, marks in the order in which they were made, a few facts. One person's only. */

let opened = null;

function openShelf() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("pressbox", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("things", { keyPath: "path" });
      request.result.createObjectStore("marks", { keyPath: "order", autoIncrement: true });
      request.result.createObjectStore("facts");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function onShelf(mode, stores, act) {
  const shelf = await openShelf();
  return new Promise((resolve, reject) => {
    const work = shelf.transaction(stores, mode);
    const asked = act(...stores.map((name) => work.objectStore(name)));
    work.oncomplete = () => resolve(asked?.result);
    work.onabort = work.onerror = () => reject(work.error);
  });
}

const fact = (name) => onShelf("readonly", ["facts"], (facts) => facts.get(name));
const setFact = (name, value) => onShelf("readwrite", ["facts"], (facts) => facts.put(value, name));
const allThings = () => onShelf("readonly", ["things"], (things) => things.getAll());
const allMarks = () => onShelf("readonly", ["marks"], (marks) => marks.getAll());

async function emptyShelf({ marksToo }) {
  await onShelf("readwrite", ["things", "marks", "facts"], (things, marks, facts) => {
    things.clear();
    facts.clear();
    if (marksToo) marks.clear();
  });
  await (await caches.open(FILES)).delete(OFFLINE_PAGE);
}

/* Whose it is */

async function greet(person, keep) {
  const known = await fact("person");
  if (known !== undefined && known !== person) {
    await endPush();
    await emptyShelf({ marksToo: true });
  }
  if (known !== person) await setFact("person", person);
  await sendMarks();
  if (keep && Date.now() - ((await fact("madeAt")) ?? 0) > REFRESH_AFTER) await refresh();
}

// The session is over, here or by something done elsewhere. Marks wait for the same person to come back.
async function leave() {
  await emptyShelf({ marksToo: false });
  await navigator.clearAppBadge?.();
}

async function refresh() {
  const [answer, page] = await Promise.all([
    fetch("/api/offline", { headers: { Accept: "application/json" } }),
    fetch(OFFLINE_PAGE, { headers: { Accept: "text/html" } }),
  ]);
  if (answer.status === 401) return leave();
  if (!answer.ok || !page.ok) return;
  const kept = await answer.json();
  if ((await fact("person")) !== kept.person) return;
  await (await caches.open(FILES)).put(OFFLINE_PAGE, page);
  const waiting = (await ownMarks()).filter((one) => one.path);
  await onShelf("readwrite", ["things", "facts"], (things, facts) => {
    things.clear();
    for (const group of kept.groups) for (const thing of group.things) things.put({ ...thing, group: group.name });
    facts.put(kept.groups.map(({ name, title, path }) => ({ name, title, path })), "groups");
    facts.put(Date.now(), "madeAt");
  });
  // What was marked meanwhile and not sent yet is newer than what the server gave.
  for (const mark of waiting) await applyMark(mark);
  await checkPush();
}

async function look(path) {
  const madeAt = (await fact("madeAt")) ?? 0;
  if (!madeAt || Date.now() - madeAt > KEPT) {
    if (madeAt) await leave();
    return { madeAt: 0, groups: [], thing: null, waiting: 0 };
  }
  const things = await allThings();
  const groups = ((await fact("groups")) ?? []).map((group) => ({
    ...group,
    things: things.filter((thing) => thing.group === group.name).sort((one, other) => one.place - other.place).map(({ html, ...line }) => line),
  }));
  const thing = things.find((one) => one.path === path) ?? null;
  return { madeAt, groups, thing, waiting: (await ownMarks()).length };
}

/* Marks that were made without network: each has a key by which the server knows whether it had it before */

async function applyMark({ path, change }) {
  await onShelf("readwrite", ["things"], (things) => {
    const asked = things.get(path);
    asked.onsuccess = () => asked.result && things.put({ ...asked.result, ...change });
  });
}

async function mark({ path, entry, change }) {
  const person = await fact("person");
  const made = { key: crypto.randomUUID(), person, path, entry, change };
  await onShelf("readwrite", ["marks"], (marks) => void marks.add(made));
  await applyMark(made);
  await registration.sync?.register("marks").catch(() => {});
  await sendMarks();
}

// One at a time, in all tabs and in all versions of this worker.
const sendMarks = () => navigator.locks.request("pressbox-marks", sendWaiting);

async function ownMarks() {
  const person = await fact("person");
  return (await allMarks()).filter((one) => one.person === person);
}

async function sendWaiting() {
  const waiting = await ownMarks();
  const remove = (sent) => onShelf("readwrite", ["marks"], (marks) => void sent.forEach((one) => marks.delete(one.order)));
  const entries = waiting.filter((one) => one.entry);
  try {
    for (let at = 0; at < entries.length; at += 100) {
      const some = entries.slice(at, at + 100);
      const body = { marks: some.map(({ key, entry, change }) => ({ key, entry_id: entry, ...change })) };
      const answer = await call("POST", "/api/curator/entries/marks", body);
      if (answer.ok) await remove(some);
      else return;
    }
    for (const one of waiting.filter((each) => each.request)) {
      const answer = await call(...one.request);
      // What is refused for good (it is gone, or no longer followed) is not asked again.
      if (answer.ok || [403, 404, 410, 422].includes(answer.status)) await remove([one]);
      else return;
    }
  } catch {
    // Still no network: they wait.
  }
}

const call = (method, path, body) =>
  fetch(path, { method, headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(body) });

/* Pages and files */

async function loadPage(request) {
  const answer = await fetch(request);
  if (answer.ok && LEFT.has(new URL(request.url).pathname)) await leave();
  return answer;
}

async function load(request) {
  const loading = loadPage(request);
  loading.catch(() => {});
  let timer;
  const slow = new Promise((resolve) => (timer = setTimeout(resolve, QUICK)));
  try {
    return await Promise.race([loading, slow.then(() => standIn(request, loading))]);
  } catch {
    return fallBack();
  } finally {
    clearTimeout(timer);
  }
}

// A slow network is not replaced unless what was asked for lies here.
async function standIn(request, loading) {
  const { pathname } = new URL(request.url);
  const { madeAt, thing, groups } = await look(pathname);
  const known = madeAt && (thing || pathname === "/" || groups.some((group) => group.path === pathname));
  return known ? fallBack() : loading;
}

// The offline page reads from the shelf what belongs to its address.
async function fallBack() {
  const page = await caches.match(OFFLINE_PAGE, { ignoreVary: true });
  if (page && (await fact("madeAt"))) return page;
  const bare = `<!DOCTYPE html><html lang="${WORDS.language}"><meta charset="utf-8"><title>Pressbox</title>
    <meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="${SHELL[0]}">
    <main><h1>Pressbox</h1><p class="lead">${WORDS.nothing}</p><p><a class="button" href="">${WORDS.again}</a></p></main>`;
  return new Response(bare, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

async function loadFile(request) {
  const files = await caches.open(FILES);
  const kept = await files.match(request, { ignoreVary: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok && answer.headers.get("Cache-Control")?.includes("immutable")) await files.put(request, answer.clone());
  return answer;
}

async function signOut(request) {
  // What was marked goes first: afterwards nobody is there to whom it belongs.
  await Promise.race([sendMarks(), new Promise((resolve) => setTimeout(resolve, WAIT_FOR_MARKS))]);
  const answer = await fetch(request).catch(() => null);
  if (!answer) return fallBack();
  await endPush();
  await emptyShelf({ marksToo: true });
  await navigator.clearAppBadge?.();
  return answer;
}

// The reader was open when the network went away: what is marked there waits with the rest.
async function changeEntry(request, entry) {
  const form = await request.clone().formData();
  try {
    return await fetch(request);
  } catch (error) {
    const change = {};
    for (const name of ["read", "starred"]) if (form.get(name)) change[name] = form.get(name) === "yes";
    if (!Object.keys(change).length) throw error;
    await mark({ path: `${READER}/entries/${entry}`, entry: Number(entry), change });
    return new Response(null, { status: 204 });
  }
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.method === "POST" && SIGN_OUTS.has(pathname)) return event.respondWith(signOut(request));
  const entry = request.method === "POST" && pathname.match(ENTRY_STATE)?.[1];
  if (entry && request.mode !== "navigate") return event.respondWith(changeEntry(request, entry));
  if (request.method !== "GET") return;
  if (request.mode === "navigate") return event.respondWith(load(request));
  if (pathname.startsWith("/static/") && search.startsWith("?v=")) event.respondWith(loadFile(request));
});

/* A new version takes over at once, and what belonged to the old one goes. */

addEventListener("install", (event) => {
  event.waitUntil(caches.open(FILES).then((files) => files.addAll(SHELL)).then(() => skipWaiting()));
});

async function takeOver() {
  for (const name of await caches.keys()) if (name.startsWith("pressbox-files-") && name !== FILES) await caches.delete(name);
  await clients.claim();
  // The shell of the new version is fetched with what it shows.
  if (await fact("madeAt")) await refresh().catch(() => {});
}

addEventListener("activate", (event) => event.waitUntil(takeOver()));
addEventListener("sync", (event) => event.tag === "marks" && event.waitUntil(sendMarks()));

const answers = {
  hello: ({ person, keep }) => greet(person, keep),
  look: ({ path }) => look(path),
  mark: (asked) => mark(asked).then(() => look(asked.path)),
  refresh: () => refresh(),
};

addEventListener("message", (event) => {
  const answer = answers[event.data?.kind];
  if (!answer) return;
  const done = answer(event.data).then(
    (said) => event.ports[0]?.postMessage({ said: said ?? null }),
    () => event.ports[0]?.postMessage({ failed: true }),
  );
  event.waitUntil(done);
});

/* Push messages */

async function showPush(data) {
  let said = null;
  try {
    said = data.json();
  } catch {
    // A message that cannot be read is shown as one all the same: browsers take the permission away otherwise.
  }
  const { title, body, path, tag, actions = [], badge } = said ?? { title: WORDS.unreadable, path: "/inbox" };
  if (Number.isInteger(badge)) await (badge > 0 ? navigator.setAppBadge?.(badge) : navigator.clearAppBadge?.());
  await registration.showNotification(title, {
    body,
    ...(tag ? { tag, renotify: true } : {}),
    icon: ICON,
    badge: BADGE,
    data: { path, targets: Object.fromEntries(actions.map(({ action, target }) => [action, target])) },
    actions: actions.slice(0, Notification.maxActions ?? 2).map(({ action, title: words }) => ({ action, title: words })),
  });
}

const requests = {
  mute: (subject) => ["PATCH", `/api/follows/${encodeURIComponent(subject)}`, { muted: true }],
  read: (notice) => ["POST", "/api/inbox/read", { ids: [Number(notice)] }],
};

const ownPath = (path) => (typeof path === "string" && path.startsWith("/") && !path.startsWith("//") ? path : "/inbox");

async function open(path) {
  const address = new URL(ownPath(path), location.origin).href;
  const windows = await clients.matchAll({ type: "window" });
  const there = windows.find((one) => one.url === address) ?? windows[0];
  if (!there) return clients.openWindow(address);
  await there.focus().catch(() => {});
  if (there.url !== address) await there.navigate(address).catch(() => clients.openWindow(address));
}

async function answerPush({ action, notification }) {
  notification.close();
  const { path, targets = {} } = notification.data ?? {};
  const request = requests[action];
  if (!request) return open(action === "watch" ? targets.watch : path);
  // It is noted first and sent then: without network it waits with the marks.
  const person = await fact("person");
  await onShelf("readwrite", ["marks"], (marks) => void marks.add({ key: crypto.randomUUID(), person, request: request(targets[action]) }));
  await registration.sync?.register("marks").catch(() => {});
  await sendMarks();
  const left = await countUnread();
  if (left !== null) await (left > 0 ? navigator.setAppBadge?.(left) : navigator.clearAppBadge?.());
}

async function countUnread() {
  const answer = await fetch("/api/activity/summary").catch(() => null);
  return answer?.ok ? (await answer.json()).unread : null;
}

const told = ({ endpoint, keys }) => ({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });

// Messages to this browser ended on the server, with its session or by hand elsewhere: then they end here too.
async function checkPush() {
  const subscription = await registration.pushManager?.getSubscription().catch(() => null);
  if (!subscription) return;
  const known = await call("POST", "/api/push/subscriptions/look", { endpoint: subscription.endpoint });
  if (known.status === 404) await subscription.unsubscribe();
}

async function endPush() {
  const subscription = await registration.pushManager?.getSubscription().catch(() => null);
  await subscription?.unsubscribe().catch(() => {});
}

async function renewPush({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options ?? { userVisibleOnly: true };
  const subscription = newSubscription ?? (await registration.pushManager.subscribe(options));
  await call("POST", "/api/push/subscriptions", told(subscription.toJSON()));
}

addEventListener("push", (event) => event.waitUntil(showPush(event.data)));
addEventListener("notificationclick", (event) => event.waitUntil(answerPush(event)));
addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renewPush(event)));
