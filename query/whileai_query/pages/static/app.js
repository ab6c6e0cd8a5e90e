// Every page: times in the viewer's zone, notices, the menu, empty filters kept out of the address.

const short = new Intl.DateTimeFormat(undefined, { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Show the times below a node in the viewer's zone; UTC stays in the title. */
export function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const parts = Object.fromEntries(short.formatToParts(moment).map((part) => [part.type, part.value]));
    time.textContent = "long" in time.dataset ? long.format(moment)
      : `${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
    time.dataset.local = "";
  }
}

/** Say something at the edge of the page; a link may lead on. An empty text takes the notice away. */
export function notify(text, link) {
  const notice = document.getElementById("notice");
  notice.replaceChildren(text);
  if (link) {
    const way = document.createElement("a");
    way.href = link.href;
    way.textContent = link.text;
    notice.append(" ", way);
  }
  notice.hidden = !text;
}

export function signInAgain() {
  const then = encodeURIComponent(location.pathname + location.search);
  notify("Your session has ended.", { href: `/sign-in?then=${then}`, text: "Sign in again" });
}

/** Ask our own service. Throws an error whose message a person can read. */
export async function ask(path, options = {}) {
  const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { accept: "application/json", "x-csrf-token": csrf, ...options.headers } });
  } catch {
    throw new Error("The service cannot be reached. Is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) signInAgain();
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error ?? `The service answered ${answer.status}.`);
}

/** HTML that our own templates made (and escaped) as nodes. */
export function nodes(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  localTimes(template.content);
  return template.content;
}

/** Put new nodes into a place without losing the focus of somebody who works there with the keyboard. */
export function replace(place, html) {
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(nodes(html));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

for (const form of document.querySelectorAll("form.filters, form#filters")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });
}
localTimes(document);
