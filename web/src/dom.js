// Elements without a framework. Text is always set as text, never as markup.
// SPDX-License-Identifier: Apache-2.0

/** el("button.big", {onclick, title}, "text", child...) */
export function el(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** A colour of the theme in force: css("--s0") */
export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
