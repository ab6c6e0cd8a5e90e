// Following a stream of the service through restarts, lost connections and the end of a session.

import { notify, signInAgain } from "./app.js";

const RETRY_MS = 2500;

/** Calls `fresh` with each thing the stream says, and `state` with whether the stream is open. */
export function follow(path, fresh, state = () => {}, ended = () => {}) {
  let source;
  let lost = false;
  const open = () => {
    source = new EventSource(path);
    source.onopen = () => {
      if (lost) notify("");
      lost = false;
      state(true);
    };
    source.onmessage = (event) => fresh(JSON.parse(event.data));
    source.addEventListener("signed-out", () => { source.close(); state(false); signInAgain(); });
    source.addEventListener("ended", (event) => { source.close(); state(false); ended(JSON.parse(event.data)); });
    source.onerror = async () => {
      state(false);
      if (!lost) notify("The connection to the service is lost. Trying again…");
      lost = true;
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      const answer = await fetch("/ui/session", { headers: { accept: "application/json" } }).catch(() => null);
      if (answer?.status === 401) signInAgain();
      else setTimeout(open, RETRY_MS);
    };
  };
  open();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
}
