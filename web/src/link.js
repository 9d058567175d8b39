// A link that restores what the reader looks at: time, range, camera, cursors, units and plots, all behind the # of the address.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";

const round = (x) => Number(x.toPrecision(7));

/** What is looked at now. */
function describe({ clock, stage, own, units, search }) {
  const isWhole = clock.range[0] === clock.start && clock.range[1] === clock.end;
  return {
    t: round(clock.time),
    range: isWhole ? undefined : clock.range.map(round),
    cursors: clock.cursors?.map(round),
    camera: stage?.camera.describe().map(round),
    units: units.isSI ? undefined : units.chosen,
    plots: own && own.list.childElementCount ? own.describe() : undefined,
    find: search?.input.value || undefined,
    open: [...document.querySelectorAll("details.group[open][data-element]")].map((node) => node.dataset.element),
  };
}

export function makeLink(page) {
  const state = describe(page);
  const fields = Object.entries(state).filter(([, value]) => value !== undefined).map(([key, value]) => `${key}=${encodeURIComponent(key === "t" || key === "find" ? value : JSON.stringify(value))}`);
  return `${location.href.split("#")[0]}#${fields.join("&")}`;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Look where a link says; true: it was one. Whatever cannot be read is left as it is. */
export function followLink(page, hash) {
  if (!/^#t=/.test(hash)) return false;
  const fields = new Map(hash.slice(1).split("&").map((part) => [part.slice(0, part.indexOf("=")), decode(part.slice(part.indexOf("=") + 1))]));
  const read = (key, isFine, act) => {
    try {
      const value = fields.has(key) ? JSON.parse(fields.get(key)) : undefined;
      if (value !== undefined && isFine(value)) act(value);
    } catch {
      // an address that was cut off or edited
    }
  };
  const areNumbers = (n) => (list) => Array.isArray(list) && list.length === n && list.every(Number.isFinite);
  const { clock, stage, own, units, search } = page;
  read("units", (value) => typeof value === "object" && value !== null, (value) => units.set(value));
  read("range", areNumbers(2), ([a, b]) => clock.setRange(a, b));
  read("cursors", areNumbers(2), (value) => clock.setCursors(value));
  read("open", Array.isArray, (names) => document.querySelectorAll("details.group[data-element]").forEach((node) => (node.open = names.includes(node.dataset.element))));
  read("plots", Array.isArray, (list) => own?.restore(list));
  read("camera", areNumbers(6), (value) => stage?.camera.restore(value));
  read("t", Number.isFinite, (t) => clock.setTime(t));
  if (fields.has("find") && search) {
    search.input.value = fields.get("find");
    search.show();
  }
  return true;
}

/** Put the link into the address bar and, where the browser lets us, on the clipboard. */
export async function giveLink(page) {
  const link = makeLink(page);
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    return "copied";
  } catch {
    return "in the address bar";
  }
}

/** A button that says for a moment what it did. */
export function linkButton(page) {
  const button = el("button", {
    type: "button", title: "a link that restores time, camera and plots",
    onclick: async () => {
      button.textContent = await giveLink(page);
      setTimeout(() => (button.textContent = "link"), 2000);
    },
  }, "link");
  return button;
}
