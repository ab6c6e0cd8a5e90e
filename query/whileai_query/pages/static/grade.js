// Grading without leaving the page: the same form, sent by script.

import { ask, nodes, notify } from "./app.js";

/** Send a grading form with the button that was pressed; the run's new standing. */
export async function grade(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  const buttons = form.querySelectorAll("button");
  for (const each of buttons) each.disabled = true;
  try {
    return await (await ask(form.getAttribute("action"), { method: "POST", body })).json();
  } catch (problem) {
    notify(`Not graded. ${problem.message}`);
    return null;
  } finally {
    for (const each of buttons) each.disabled = false;
  }
}

export function stand(place, standing) {
  place.replaceChildren(nodes(standing.html));
}
