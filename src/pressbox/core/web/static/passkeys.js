// Passkeys. A form with `data-passkey` asks its `data-options` for a challenge, lets the browser answer it, and is then
// sent as a form with the answer in its field `credential`. Without this script the form is hidden and a text says so.
const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (part) => part.charCodeAt(0));

function encode(buffer) {
  const text = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const described = (list) => (list ?? []).map((one) => ({ ...one, id: decode(one.id) }));

async function createPasskey(options) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: described(options.excludeCredentials),
    },
  });
  const { clientDataJSON, attestationObject } = made.response;
  return wrap(made, { clientDataJSON: encode(clientDataJSON), attestationObject: encode(attestationObject) });
}

async function usePasskey(options) {
  const used = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      allowCredentials: described(options.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = used.response;
  return wrap(used, {
    clientDataJSON: encode(clientDataJSON),
    authenticatorData: encode(authenticatorData),
    signature: encode(signature),
    userHandle: userHandle ? encode(userHandle) : null,
  });
}

const wrap = (credential, response) => ({
  id: credential.id,
  rawId: encode(credential.rawId),
  type: credential.type,
  response,
});

function say(form, words) {
  const place = form.querySelector("[data-passkey-error]");
  place.textContent = words;
  place.hidden = !words;
}

async function run(form) {
  say(form, "");
  const asked = await fetch(form.dataset.options, { method: "POST", headers: { Accept: "application/json" } });
  const answer = await asked.json().catch(() => null);
  if (!asked.ok) return say(form, answer?.error?.message ?? form.dataset.failed);
  try {
    const act = form.dataset.passkey === "create" ? createPasskey : usePasskey;
    form.elements.credential.value = JSON.stringify(await act(answer));
  } catch (error) {
    // The person closed the browser's question, or the device already has a key for us.
    return say(form, error.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed);
  }
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const able = window.isSecureContext && window.PublicKeyCredential;
  form.hidden = !able;
  const instead = document.getElementById(form.dataset.instead);
  if (instead) instead.hidden = Boolean(able);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await run(form);
    } catch {
      say(form, form.dataset.failed);
    }
    button.disabled = false;
  });
}
