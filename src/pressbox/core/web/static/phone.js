// Registers the service worker and tells it who is there. It keeps something to read on phones and where Pressbox is
// installed; elsewhere it only waits for messages.
export function greetWorker() {
  const person = Number(document.body.dataset.person);
  if (!person || !window.isSecureContext || !navigator.serviceWorker) return;
  const carried = matchMedia("(display-mode: standalone), (pointer: coarse)").matches && !navigator.connection?.saveData;
  // After everything that the page itself needs.
  const greet = async () => {
    await navigator.serviceWorker.register("/service-worker.js", { updateViaCache: "none" });
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage({ kind: "hello", person, keep: carried });
  };
  const start = () => greet().catch(() => {});
  if (document.readyState === "complete") start();
  else addEventListener("load", start);
  // Back in the network: what waited is sent now.
  addEventListener("online", start);
}
