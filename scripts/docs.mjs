// The documentation as a site of plain pages: docs/**/*.md, the C API from the headers, a gallery of reports.
//   node scripts/docs.mjs INTERIM OUT
// Pages fetch nothing from elsewhere; web/site.js searches, copies and folds. Thumbnails of the gallery are in docs/images/gallery (scripts/pictures.mjs). With --few, the
// gallery has the first example of each group only.
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { highlight } from "./highlight.mjs";
import { Marked } from "../web/node_modules/marked/lib/marked.esm.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [interim, out] = process.argv.slice(2).filter((word) => !word.startsWith("--")).map((path) => resolve(path));
const hasFew = process.argv.includes("--few");
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// ---------------------------------------------------------------------------- what there is

/** Sections of the site: title, which pages under docs/, and those of them that come first. Pages of no section come last, under "More". */
const SECTIONS = [
  ["Begin", /^guide\/getting-started/, []],
  ["Tutorials", /^tutorials\//, ["manipulator", "cranes", "clearance", "arm", "capture", "python-first-model", "python-held-forces", "python-identify-friction", "python-tune-controller"]],
  ["Guide", /^guide\//, ["results", "reports", "sweep", "studies", "contact", "clearance", "hydraulics", "control", "cosim", "robots", "python", "log-crane"]],
  ["Reference", /^reference\//, []],
  ["Theory", /^theory/, ["theory", "theory-contact-geometry", "theory-mlcp", "theory-clearance", "theory-flexible", "theory-hydraulics", "theory-control", "theory-cosim"]],
  ["Project", /^(architecture|benchmarks)/, []],
]; // the changelog joins the last
/** Examples by what they show; those that no group names come last. */
const GALLERY = [
  ["Machines", ["manipulator", "log-crane", "excavator", "mobile-crane", "crane-single", "crane-double", "crane", "crane-cut", "arm-capture", "arm-manoeuvre1", "arm-manoeuvre2"]],
  ["Contact and friction", ["grasp", "stack", "towers", "bouncing-ball", "newtons-cradle", "terrain", "rolling", "stick-slip", "slope", "grip", "table", "table-hammer", "limits"]],
  ["Joints with clearance", ["clearance-slider-crank", "clearance-revolute", "clearance-pendulum", "clearance-cylindrical", "clearance-prismatic", "clearance-drawer", "clearance-door"]],
  ["Mechanisms and robots", ["four-bar", "gears", "slider-crank", "bricard", "governor", "top", "pendulum", "pick-and-place", "robot", "robot-drive", "robot-replay", "scara"]],
  ["Flexible bodies", ["flexible-pendulum", "flexible-beam", "flexible-mast"]],
  ["Hydraulics and control", ["hydraulic-circuit", "hydraulic-cylinder", "hydraulic-accumulator", "position-control", "control"]],
];

function findPages(folder = "") {
  return readdirSync(join(root, "docs", folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? findPages(path) : path.endsWith(".md") ? [path] : [];
  });
}

function titleOf(text, path) {
  return /^#\s+(.+)$/m.exec(text)?.[1].replace(/[`*]/g, "") ?? path;
}

/** A title as the menu has it: without what its section says, and not too long. */
function shortTitleOf(text, path) {
  const title = titleOf(text, path).replace(/^(Tutorial|Theory): /, "").replace(/^(.{6,}?)[:,] .*$/, "$1");
  return title[0].toUpperCase() + title.slice(1);
}

// ---------------------------------------------------------------------------- markdown

const slugs = new Map();
function slugOf(text) {
  const slug = text.toLowerCase().replace(/<[^>]+>/g, "").replace(/&[a-z]+;/g, "").replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
  const count = slugs.get(slug) ?? 0;
  slugs.set(slug, count + 1);
  return count ? `${slug}-${count}` : slug;
}

const marked = new Marked({ gfm: true });
marked.use({
  renderer: {
    code({ text, lang }) {
      return `<pre><code>${highlight(text, lang ?? "")}</code></pre>\n`;
    },
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      return `<h${depth} id="${slugOf(text)}">${text}</h${depth}>\n`;
    },
    table({ header, rows }) {
      // tables of keys become a list on the phone: each cell carries the head of its column
      if (header[0].text !== "Key") return false;
      const heads = header.map((cell) => escape(cell.text));
      const cells = (row) => row.map((cell, i) => `<td data-head="${heads[i]}">${this.parser.parseInline(cell.tokens)}</td>`).join("");
      return `<table class="keys"><thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n")}</tbody></table>\n`;
    },
    link({ href, tokens }) {
      // links between pages of docs/ stay within the site; files of the repository are named only
      const text = this.parser.parseInline(tokens);
      const target = href.replace(/\.md(#|$)/, ".html$1");
      if (/^https?:/.test(href) || (!href.endsWith(".md") && !/\.md#|^#|\.html|\.png$/.test(href))) return text;
      return `<a href="${escape(target)}">${text}</a>`;
    },
  },
});

function renderMarkdown(text) {
  slugs.clear();
  return withContents(marked.parse(text));
}

/** Long pages get an index of their sections, which stays in sight beside the text. */
function withContents(html) {
  const sections = [...html.matchAll(/<h([23]) id="([^"]*)">(.*?)<\/h\1>/g)];
  if (sections.length < 6) return html;
  const list = sections.map(([, depth, id, text]) => `<a class="h${depth}" href="#${id}">${text.replace(/<\/?a[^>]*>/g, "")}</a>`).join("");
  return html.replace("</h1>", `</h1><aside class="index" aria-label="on this page">${list}</aside>`);
}

// ---------------------------------------------------------------------------- search

const index = []; // [title, address, text]

/** Sections of a page as entries of the search. */
function addToIndex(path, title, html) {
  const plain = (text) => text.replace(/<aside[\s\S]*?<\/aside>/g, "").replace(/<\/?(span|code|b|i|em|strong|a)\b[^>]*>/g, "").replace(/<[^>]+>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&").replace(/\s+/g, " ").trim();
  const parts = html.split(/(?=<h[23] id=")/);
  parts.forEach((part, i) => {
    const [, , id, head] = /^<h([23]) id="([^"]*)">(.*?)<\/h\1>/.exec(part) ?? [];
    const name = head ? `${plain(head)} – ${title}` : title;
    index.push([name, id ? `${path}#${id}` : path, plain(part.replace(/^<h[23].*?<\/h[23]>/, "")).slice(0, 1500)]);
    // names of the C API are looked for by themselves
    for (const [, symbol] of part.matchAll(/<a id="(itm_\w+|Itm\w+)">/g)) index.push([symbol, `${path}#${symbol}`, title]);
  });
}

// ---------------------------------------------------------------------------- headers

/** Functions and types that a piece of a header declares. */
function namesOf(code) {
  const functions = [...code.matchAll(/\b(itm_\w+)\s*\(/g)].map((m) => m[1]), types = [...code.matchAll(/^(?:typedef .*?|\} ?)(Itm\w+);/gm)].map((m) => m[1]);
  return [...new Set([...functions, ...types])];
}

const declared = []; // [name, header]

/** A header as a page: its first comment, then each declaration with the comment before it. */
function renderHeader(name, text) {
  const lines = text.split("\n");
  const parts = [];
  let comment = [], code = [];
  let depth = 0;
  const flush = () => {
    const words = comment.filter((line) => !/^SPDX|^clang-format/.test(line)).join("\n");
    const names = namesOf(code.join("\n").replace(/\/\/.*$/gm, "")).filter((n) => !declared.some(([other, header]) => other === n && header === name));
    declared.push(...names.map((n) => [n, name]));
    if (code.length) parts.push(`<div class="declaration">${names.map((n) => `<a id="${n}"></a>`).join("")}${paragraphs(words)}<pre><code>${highlight(code.join("\n"), "c")}</code></pre></div>`);
    else if (words.trim()) parts.push(paragraphs(words));
    comment = [];
    code = [];
  };
  for (const line of lines) {
    const banner = /^\/\/ -{20,}\s*(.*)$/.exec(line);
    if (banner) {
      flush();
      parts.push(`<h2 id="${slugOf(banner[1])}">${escape(banner[1])}</h2>`);
    } else if (depth === 0 && /^\/\//.test(line)) {
      if (code.length) flush();
      comment.push(line.replace(/^\/\/ ?/, ""));
    } else if (/^\s*$/.test(line) && depth === 0) {
      flush();
    } else if (!/^(#|ITM_EXTERN_C|extern "C")/.test(line)) {
      code.push(line);
      depth += (line.match(/[{(]/g) ?? []).length - (line.match(/[})]/g) ?? []).length;
    }
  }
  flush();
  return `<h1>interim/${escape(name)}</h1>\n${parts.join("\n")}`;
}

/** Comments of headers: paragraphs, lists, and tables of words with their meaning, with emphasis and code. Lists and tables are indented or begin with a dash. */
function paragraphs(text) {
  const inline = (line) => escape(line).replace(/`([^`]+)`/g, "<code>$1</code>").replace(/\*\*([^*]+)\*\*/g, "<b>$1</b>").replace(/(^|[\s(])\*([^*\s][^*]*)\*(?=[\s.,;:)]|$)/g, "$1<i>$2</i>");
  const blocks = []; // runs of lines of one kind
  text.split("\n").forEach((line) => {
    const kind = !line.trim() ? "" : /^\s*- /.test(line) || (blocks.at(-1)?.kind === "list" && /^\s/.test(line)) ? "list" : /^\s{2,}/.test(line) ? "table" : "words";
    if (blocks.at(-1)?.kind !== kind) blocks.push({ kind, lines: [] });
    blocks.at(-1).lines.push(line);
  });
  const render = {
    "": () => "",
    words: (lines) => `<p>${inline(lines.join("\n"))}</p>`,
    list: (lines) => `<ul>${lines.join("\n").split(/^\s*- /m).slice(1).map((item) => `<li>${inline(item.replace(/\s*\n\s*/g, " "))}</li>`).join("")}</ul>`,
    table: (lines) => {
      const depth = Math.min(...lines.map((line) => line.search(/\S/))), rows = [];
      for (const line of lines) {
        if (line.search(/\S/) > depth && rows.length) rows.at(-1)[1] += ` ${line.trim()}`;
        else rows.push(/^\s*(\S.*?)\s{2,}(\S.*)$/.exec(line)?.slice(1) ?? [line.trim(), undefined]);
      }
      const isFormula = rows.length < 2 || rows.some(([word, meaning]) => meaning === undefined || word.includes("="));
      if (isFormula) return `<pre class="words">${inline(lines.join("\n"))}</pre>`;
      return `<dl>${rows.map(([word, meaning]) => `<dt>${inline(word)}</dt><dd>${inline(meaning)}</dd>`).join("")}</dl>`;
    },
  };
  return blocks.map(({ kind, lines }) => render[kind](lines)).join("\n");
}

// ---------------------------------------------------------------------------- pages

const STYLE = `
main.doc { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; max-width: 92rem; margin: 0 auto; padding: 1.2rem 1.25rem 4rem; }
main.doc nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow: auto; font-size: 0.88rem; }
main.doc nav h2 { font-size: 0.78rem; text-transform: uppercase; letter-spacing: 0.05em; color: var(--muted); margin: 1rem 0 0.2rem; }
main.doc nav a { display: block; padding: 0.12rem 0.5rem; color: var(--text); text-decoration: none; border-left: 2px solid transparent; }
main.doc nav a:hover { color: var(--accent); } main.doc nav a[aria-current] { color: var(--accent); border-left-color: var(--accent); }
article { overflow-wrap: anywhere; } article h1 { font-size: 1.9rem; } article h2 { margin-top: 2rem; border-bottom: 1px solid var(--grid); padding-bottom: 0.2rem; }
article a { color: var(--accent); } article img { max-width: 100%; border: 1px solid var(--grid); border-radius: 8px; }
article pre { background: var(--card); border: 1px solid var(--grid); border-radius: 8px; padding: 0.7rem 0.9rem; overflow-x: auto; font-size: 0.82rem; line-height: 1.45; }
article pre.words { background: none; border: 0; padding: 0; white-space: pre-wrap; font-family: inherit; font-size: inherit; }
article table { display: block; overflow-x: auto; margin: 0.8rem 0; } article th, article td { padding: 0.35rem 0.9rem 0.35rem 0; overflow-wrap: break-word; }
article { max-width: 68rem; } article:has(aside.index) { display: grid; grid-template-columns: minmax(0, 1fr) 13rem; column-gap: 2rem; align-content: start; } article:has(aside.index) > * { grid-column: 1; }
article > aside.index { grid-column: 2; grid-row: 1 / span 400; position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow: auto; font-size: 0.8rem; border-left: 1px solid var(--grid); padding-left: 0.7rem; }
aside.index a { display: block; text-decoration: none; color: var(--muted); padding: 0.08rem 0; } aside.index a.h3 { padding-left: 0.8rem; } aside.index a:hover { color: var(--accent); }
.h-comment { color: var(--muted); font-style: italic; } .h-text { color: var(--s2); } .h-key { color: var(--s0); } .h-word { color: var(--s4); } .h-number { color: var(--s1); }
.code { position: relative; } .code .copy { position: absolute; right: 0.4rem; top: 0.4rem; opacity: 0; } .code:hover .copy, .code .copy:focus { opacity: 1; }
main.doc nav input[type=search] { width: 100%; font: inherit; padding: 0.3rem 0.6rem; margin: 0.5rem 0; color: var(--text); background: var(--card); border: 1px solid var(--frame); border-radius: 6px; }
.hits { border: 1px solid var(--frame); border-radius: 8px; background: var(--card); padding: 0.3rem; margin-bottom: 0.6rem; } .hits small { display: block; color: var(--muted); overflow-wrap: anywhere; } .hits p { margin: 0.3rem 0.5rem; color: var(--muted); }
#fold, label[for=fold] { display: none; } article dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1.2rem; } article dd { margin: 0; } article dt { font-weight: 600; }
article ul.gallery img { display: block; width: 100%; height: auto; aspect-ratio: 4 / 3; object-fit: cover; border: 0; margin-bottom: 0.4rem; }
article ul.names { columns: 3 14rem; list-style: none; padding: 0; font-size: 0.86rem; }
article ul.gallery { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.7rem; } article ul.gallery li { background: var(--card); border: 1px solid var(--grid); border-radius: 8px; padding: 0.6rem 0.8rem; }
article ul.gallery small { display: block; color: var(--muted); }
.declaration { margin: 1rem 0; } .declaration p { margin: 0.3rem 0; }
@media (max-width: 800px) { main.doc { grid-template-columns: minmax(0, 1fr); } main.doc nav { position: static; max-height: none; }
  label[for=fold] { display: inline-block; padding: 0.3rem 0.8rem; border: 1px solid var(--frame); border-radius: 6px; cursor: pointer; } #fold:focus-visible + label { outline: 2px solid var(--accent); }
  #fold { display: block; position: absolute; opacity: 0; } #fold:not(:checked) ~ .pages { display: none; } article dl { grid-template-columns: 1fr; } .code .copy { opacity: 1; }
  article th:last-child, article td:last-child { min-width: 12rem; } article th, article td { padding-right: 0.6rem; } article table { font-size: 0.88rem; }
  table.keys thead { display: none; } table.keys tbody, table.keys tr { display: block; } table.keys tr { padding: 0.4rem 0; border-bottom: 1px solid var(--grid); } table.keys td { display: inline; border: 0; padding: 0 0.8rem 0 0; color: var(--muted); }
  table.keys td:first-child, table.keys td:last-child { display: block; color: var(--text); } table.keys td:first-child { font-weight: 600; } table.keys td:empty { display: none; } table.keys td[data-head=Default]::before { content: "default "; } }
@media (max-width: 1150px) { article:has(aside.index) { display: block; } article > aside.index { position: static; max-height: 14rem; border: 1px solid var(--grid); border-radius: 8px; padding: 0.4rem 0.7rem; } }`;
const style = readFileSync(join(root, "web/report.css"), "utf8") + STYLE;

function write(path, title, body, menu) {
  const up = relative(dirname(path), ".") || ".";
  const links = menu.map(([section, pages]) => `<h2>${escape(section)}</h2>${pages
    .map(([href, text]) => `<a href="${escape(posix.join(up, href))}"${href === path ? ' aria-current="page"' : ""}>${escape(text)}</a>`).join("")}`).join("");
  const file = join(out, path);
  addToIndex(path, title, body);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)} - Interim</title>
<link rel="stylesheet" href="${posix.join(up, "style.css")}"></head><body><main class="doc"><nav aria-label="pages"><a href="${posix.join(up, "index.html")}"><b>Interim</b></a>
<input type="search" placeholder="search ( / )" aria-label="search the documentation"><div class="hits" hidden></div>
<input type="checkbox" id="fold"><label for="fold">☰ all pages</label><div class="pages">${links}</div></nav>
<article>${body}</article></main><script src="${posix.join(up, "site.js")}" data-up="${up}"></script></body></html>
`);
}

/** Groups of the gallery with the examples that this version has. */
function listExamples() {
  const all = readdirSync(join(root, "examples")).filter((file) => file.endsWith(".yaml")).map((file) => file.replace(/\.yaml$/, "")).sort();
  const named = new Set(GALLERY.flatMap(([, names]) => names));
  const groups = [...GALLERY, ["More", all.filter((name) => !named.has(name))]].map(([group, names]) => [group, names.filter((name) => all.includes(name))]);
  return groups.map(([group, names]) => [group, hasFew ? names.slice(0, 1) : names]).filter(([, names]) => names.length);
}

/** Runs an example and writes its report; returns its card. */
function makeCard(name) {
  const model = join("examples", `${name}.yaml`);
  const result = spawnSync(interim, ["run", "-q", model, "--report", join(out, "gallery", `${name}.html`)], { cwd: root, encoding: "utf8" });
  if (result.status !== 0 && result.status !== 2) {
    console.error(result.stderr);
    process.exitCode = 1;
    return "";
  }
  const text = readFileSync(join(root, model), "utf8"), title = (/^title:\s*(.*)$/m.exec(text)?.[1] ?? name).replace(/^"|"$/g, "");
  // what it is: the first sentence of its first comment, without a citation
  const comment = /^((?:# .*\n)+)/.exec(text)?.[1].replace(/^# /gm, "").replace(/\s*\n/g, " ") ?? "";
  const what = comment.replace(/\s*\[[^\]]*\]/g, "").replace(/^(.*?[.?:])(\s.*|$)/, "$1").replace(/:$/, ".");
  const picture = existsSync(join(root, "docs/images/gallery", `${name}.webp`)) ? `<img src="images/gallery/${name}.webp" width="320" height="240" alt="" loading="lazy">` : "";
  return `<li><a href="gallery/${name}.html">${picture}${escape(title)}</a><small>${escape(what)}</small><code>${name}.yaml</code></li>`;
}

// ---------------------------------------------------------------------------- site

const files = findPages().sort();
const texts = new Map(files.map((path) => [path, readFileSync(join(root, "docs", path), "utf8")]));
const headers = readdirSync(join(root, "include/interim")).filter((name) => name.endsWith(".h")).sort();
const left = new Set(files);
const menu = SECTIONS.map(([title, which, first]) => {
  const place = (path) => (first.indexOf(posix.basename(path, ".md")) + 1 || first.length + 1);
  const pages = files.filter((path) => left.has(path) && which.test(path)).sort((a, b) => place(a) - place(b));
  pages.forEach((path) => left.delete(path));
  return [title, pages.map((path) => [path.replace(/\.md$/, ".html"), shortTitleOf(texts.get(path), path)])];
});
menu.at(-1)[1].push(["CHANGELOG.html", "Changelog"], ["CONTRIBUTING.html", "Contributing"]);
menu.splice(1, 0, ["See", [["gallery.html", "Gallery of reports"]]]);
menu.push(["C API", [["api/index.html", "All names"], ...headers.map((name) => [`api/${name}.html`, name])]]);
if (left.size) menu.push(["More", [...left].map((path) => [path.replace(/\.md$/, ".html"), titleOf(texts.get(path), path)])]);
const shown = menu.filter(([, pages]) => pages.length);

for (const [path, text] of texts) write(path.replace(/\.md$/, ".html"), titleOf(text, path), renderMarkdown(text), shown);
for (const name of headers) {
  slugs.clear();
  write(`api/${name}.html`, name, renderHeader(name, readFileSync(join(root, "include/interim", name), "utf8")), shown);
}
const byName = [...declared].sort(([a], [b]) => a.localeCompare(b)).map(([name, header]) => `<li><a href="${header}.html#${name}">${name}</a></li>`);
write("api/index.html", "C API", `<h1>All names of the C API</h1><p><code>#include &lt;interim/interim.h&gt;</code> has them all. <a href="../guide/getting-started.html#using-the-c-library">How to build with it</a>.</p><ul class="names">${byName.join("")}</ul>`, shown);
mkdirSync(join(out, "gallery"), { recursive: true });
const gallery = listExamples();
write("gallery.html", "Gallery", `<h1>Gallery of reports</h1><p>Each is one file, made by <code>interim run --report</code> from a file of <code>examples/</code>. It opens from disk: press space to play.</p>${gallery
  .map(([group, names]) => `<h2 id="${slugOf(group)}">${group}</h2><ul class="gallery">${names.map(makeCard).join("")}</ul>`).join("")}`, shown);
for (const [file, page] of [["README.md", "index.html"], ["CHANGELOG.md", "CHANGELOG.html"], ["CONTRIBUTING.md", "CONTRIBUTING.html"]]) {
  const text = readFileSync(join(root, file), "utf8").replaceAll("](docs/", "](");
  write(page, titleOf(text, file), renderMarkdown(text), shown);
}
writeFileSync(join(out, "style.css"), style);
writeFileSync(join(out, "site.js"), readFileSync(join(root, "web/site.js")));
writeFileSync(join(out, "search.js"), `window.INTERIM_INDEX = ${JSON.stringify(index).replaceAll("<", "\\u003c")};\n`);
if (existsSync(join(root, "docs/images"))) cpSync(join(root, "docs/images"), join(out, "images"), { recursive: true });
console.log(`${texts.size + headers.length + 5} pages, ${gallery.flatMap(([, names]) => names).length} reports`);
