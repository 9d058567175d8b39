// The little that pages of the documentation do: search, copy buttons, the menu of the phone. SPDX-License-Identifier: Apache-2.0
(() => {
  const up = document.currentScript.dataset.up;
  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  // copy buttons
  for (const pre of document.querySelectorAll("article pre:not(.words)")) {
    const button = make("button", { className: "copy", type: "button", textContent: "copy" });
    button.addEventListener("click", async () => {
      const text = pre.querySelector("code")?.textContent ?? pre.textContent;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // from a file some browsers forbid the clipboard: select it instead
        getSelection().selectAllChildren(pre.querySelector("code") ?? pre);
        document.execCommand("copy");
      }
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    const holder = make("div", { className: "code" });
    pre.replaceWith(holder);
    holder.append(pre, button);
  }

  // search: the index is fetched when it is first needed, as a script, because pages open from disk
  const input = document.querySelector("nav input[type=search]"), list = document.querySelector("nav .hits");
  let loading = null;
  const load = () => (loading ??= new Promise((resolve) => {
    if (window.INTERIM_INDEX) return resolve();
    document.head.append(make("script", { src: `${up}/search.js`, onload: resolve }));
  }));
  const score = ([title, , text], words) => {
    const head = title.toLowerCase(), body = text.toLowerCase();
    return words.every((word) => head.includes(word) || body.includes(word)) ? words.reduce((sum, word) => sum + (head.split(/\W+/).includes(word) ? 8 : head.includes(word) ? 4 : 1), 0) : 0;
  };
  /** Whole words around the first place of a word. */
  const excerpt = (text, word) => {
    const near = Math.max(0, text.toLowerCase().indexOf(word) - 40), start = near ? text.indexOf(" ", near) + 1 : 0;
    const end = start + 110 < text.length ? text.lastIndexOf(" ", start + 110) : text.length;
    return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };
  const show = async () => {
    await load();
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length ? window.INTERIM_INDEX.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).slice(0, 30) : [];
    list.hidden = words.length === 0;
    list.replaceChildren(...(hits.length ? hits.map(([, [title, href, text]]) => {
      return make("a", { href: `${up}/${href}` }, make("b", { textContent: title }), make("small", { textContent: excerpt(text, words[0]) }));
    }) : [make("p", { textContent: "nothing found" })]));
  };
  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.matches("input")) {
      event.preventDefault();
      input.focus();
    }
  });
})();
