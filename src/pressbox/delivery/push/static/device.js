// "This device" on the account page: lets this browser get push messages, tries it, and ends it.
const section = document.querySelector("[data-device]");
const says = section.querySelector("[data-device-says]");

const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (part) => part.charCodeAt(0));

function show(state) {
  for (const line of section.querySelectorAll("[data-device-state]")) line.hidden = line.dataset.deviceState !== state;
  const shown = { off: ["subscribe"], on: ["test", "end"] }[state] ?? [];
  for (const button of section.querySelectorAll("[data-device-do]")) button.hidden = !shown.includes(button.dataset.deviceDo);
}

async function call(path, body) {
  const answer = await fetch(`/api/push/${path}`, {
    method: body ? "POST" : "GET",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw Object.assign(new Error(content?.error?.message), { status: answer.status });
  return content;
}

const register = () => navigator.serviceWorker.register("/service-worker.js");
const subscribed = async () => (await register()).pushManager.getSubscription();

function able() {
  if (!window.isSecureContext) return "insecure";
  if (!navigator.serviceWorker || !window.PushManager || !window.Notification) return "unable";
  return Notification.permission === "denied" ? "refused" : "";
}

async function look() {
  const problem = able();
  if (problem) return show(problem);
  const subscription = await subscribed().catch(() => undefined);
  show(subscription === undefined ? "unable" : "off");
  if (!subscription) return;
  try {
    const { id } = await call("subscriptions/look", { endpoint: subscription.endpoint });
    show("on");
    const mine = section.querySelector(`[data-device-id="${id}"]`);
    if (mine) mine.hidden = false;
  } catch (error) {
    // The browser has one that we no longer know: it is somebody else's, or its session has ended.
    if (error.status !== 404) throw error;
  }
}

const acts = {
  async subscribe() {
    if ((await Notification.requestPermission()) === "denied") return show("refused");
    await register();
    const registration = await navigator.serviceWorker.ready;
    const { public_key } = await call("key");
    let subscription;
    try {
      subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: decode(public_key) });
    } catch (error) {
      if (Notification.permission === "default") return show("off");
      throw Object.assign(error, { service: true });
    }
    await call("subscriptions", pick(subscription.toJSON()));
    location.hash = "device";
    location.reload();
  },
  async test() {
    await call("test", { endpoint: (await subscribed()).endpoint });
    says.textContent = says.dataset.sent;
  },
  async end() {
    const subscription = await subscribed();
    await call("subscriptions/end", { endpoint: subscription.endpoint });
    await subscription.unsubscribe();
    location.hash = "device";
    location.reload();
  },
};

const pick = ({ endpoint, keys }) => ({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });

section.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-device-do]");
  if (!button) return;
  says.textContent = "";
  button.disabled = true;
  try {
    await acts[button.dataset.deviceDo]();
  } catch (error) {
    says.textContent = error.service ? says.dataset.service : error.status ? error.message : says.dataset.failed;
    if (error.status === 404 || error.status === 410) show("off");
  }
  button.disabled = false;
});

look().catch(() => (says.textContent = says.dataset.failed));
