// Runs the entries of reproduce/ and writes a page with what the papers say beside what came out here.
//   node scripts/reproduce.mjs INTERIM OUT [NAME...]
// An entry is one file, reproduce/NAME.mjs; reproduce/README.md says what it holds. What an entry found is kept in OUT/NAME.entry.json, so
// that the page shows all entries that were ever run there, whichever are run now.
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [program, folder, ...wanted] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node scripts/reproduce.mjs INTERIM OUT [NAME...]");
  process.exit(1);
}
const interim = resolve(program), out = resolve(folder);
mkdirSync(out, { recursive: true });

// ---------------------------------------------------------------------------- what an entry can ask for

/** Rows of a CSV file as objects; cells that are numbers are numbers. */
function readTable(path) {
  const split = (line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => (m[1] ?? m[2]).replaceAll('""', '"'));
  const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n").map(split);
  return lines.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i] !== "" && Number.isFinite(Number(cells[i])) ? Number(cells[i]) : cells[i]])));
}

function call(words) {
  const result = spawnSync(interim, words, { cwd: root, encoding: "utf8" });
  const shown = words.map((w) => w.replace(`${out}/`, "")).map((w) => (/[\s*{}[\]]/.test(w) ? `'${w}'` : w));
  return { status: result.status, text: result.stdout + result.stderr, command: ["interim", ...shown].join(" ") };
}

/** The tools of an entry; what it runs is noted for the page. */
function makeTools(name) {
  const commands = [], pages = [];
  const files = (suffix) => {
    const stem = join(out, suffix ? `${name}-${suffix}` : name);
    return { csv: `${stem}.csv`, html: `${stem}.html` };
  };
  const note = (result, html) => {
    commands.push(result.command);
    if (html && existsSync(html)) pages.push(basename(html));
    if (result.status !== 0 && result.status !== 2) throw new Error(`${result.command}: ${result.text}`);
    return result;
  };
  return {
    commands, pages,
    /** interim run MODEL with a report: {status, text, rows}. */
    run(model, options = [], suffix = "") {
      const { csv, html } = files(suffix);
      const result = note(call(["run", model, ...options, "-o", csv, "--report", html]), html);
      return { ...result, rows: readTable(csv) };
    },
    /** The same without a report, for runs that only serve a comparison. */
    measure(model, options, suffix) {
      const { csv } = files(suffix);
      const result = note(call(["run", model, ...options, "-o", csv]));
      return { ...result, rows: readTable(csv) };
    },
    /** interim sweep MODEL with a report: its rows. */
    sweep(model, options, suffix = "") {
      const { csv, html } = files(suffix);
      note(call(["sweep", model, ...options, "-o", csv, "--report", html]), html);
      return readTable(csv);
    },
    /** interim check or inspect MODEL: what it prints. */
    ask(command, model, options = []) {
      return note(call([command, model, ...options])).text;
    },
  };
}

// ---------------------------------------------------------------------------- page

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const PAPERS = ["contact-rim", "cranes", "clearance", "nonsmooth-rim", "flexible-rim"];

/** Authors, title, year of a key of docs/references.bib. */
function citeOf(key) {
  const text = readFileSync(join(root, "docs/references.bib"), "utf8");
  const start = text.indexOf(`{${key},`);
  const field = (name) => new RegExp(`\\b${name}\\s*=\\s*\\{([^}]*)\\}`).exec(text.slice(start))?.[1] ?? "";
  const authors = field("author").split(" and ").map((a) => a.split(",")[0]);
  return `${authors.length > 2 ? `${authors.slice(0, -1).join(", ")} and ${authors.at(-1)}` : authors.join(" and ")}: <i>${field("title")}</i>, ${field("year")}`;
}

function verdictOf(matched) {
  if (matched === true) return '<span class="verdict finished">matched</span>';
  if (matched === false) return '<span class="verdict broke-down">not matched</span>';
  return `<span class="verdict interrupted">${escape(matched)}</span>`;
}

function tableOf({ head, rows }) {
  const cell = (tag) => (c, i) => `<${tag}${i ? ' class="num"' : ""}>${escape(c)}</${tag}>`;
  return `<div class="scroll"><table class="errors"><thead><tr>${head.map(cell("th")).join("")}</tr></thead><tbody>${rows.map((r) => `<tr>${r.map(cell("td")).join("")}</tr>`).join("")}</tbody></table></div>`;
}

function cardOf({ name, item, title, says, measured, matched, why, table, charts, pages, commands, seconds }) {
  const links = pages.map((page) => `<a href="${escape(page)}">${escape(page.replace(/\.html$/, ""))}</a>`).join(", ");
  return `<section class="card" id="${escape(name)}"><h3>${verdictOf(matched)} ${escape(title)} <small>${escape(item)}</small></h3>
<dl><dt>The paper</dt><dd>${escape(says)}</dd><dt>Here</dt><dd>${escape(measured)}</dd>${why ? `<dt>${matched === true ? "Note" : "Why"}</dt><dd>${escape(why)}</dd>` : ""}</dl>
${table ? tableOf(table) : ""}${charts.length ? `<div class="charts">${charts.join("\n")}</div>` : ""}
<details><summary>${pages.length ? "Reports and commands" : "Commands"} <small>(${seconds.toFixed(1)} s here)</small></summary>${links ? `<p>Reports: ${links}</p>` : ""}<pre>${commands.map(escape).join("\n")}</pre></details></section>`;
}

const STYLE = `
header, main.text { max-width: 78rem; } main.text > h2 { margin-top: 2.4rem; border-bottom: 2px solid var(--grid); } header a, main a { color: var(--accent); }
.cite { color: var(--muted); margin: 0.2rem 0 0.8rem; }
.card { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 0.7rem 1.1rem 0.8rem; margin: 0.9rem 0; }
.card h3 { margin: 0.2rem 0 0.5rem; font-size: 1.06rem; } .card h3 .verdict { font-size: 0.8rem; margin-right: 0.4rem; } .card small { color: var(--muted); font-weight: 400; }
.card dl { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: 0.3rem 0.8rem; margin: 0; } .card dt { color: var(--muted); } .card dd { margin: 0; max-width: 84ch; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0.6rem 1.2rem; margin: 0.7rem 0 0.3rem; }
figure.chart { margin: 0; max-width: 40rem; } figure.chart figcaption { display: block; font-size: 0.82rem; color: var(--text); } figure.chart figcaption span { margin-right: 0.8rem; white-space: nowrap; }
figure.chart svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; fill: var(--muted); } figure.chart .grid path { stroke: var(--grid); fill: none; }
.scroll { overflow-x: auto; } .scroll td, .scroll th { white-space: nowrap; } .scroll table { margin: 0.6rem 0 0.2rem; font-variant-numeric: tabular-nums; }
.card details { margin-top: 0.5rem; color: var(--muted); } .card pre { overflow-x: auto; font-size: 0.78rem; color: var(--text); }
table.tally td, table.tally th { padding-right: 1.4rem; }
@media (max-width: 640px) { .card dl { grid-template-columns: 1fr; } .charts { grid-template-columns: 1fr; } }`;

function pageOf(results, left) {
  const style = readFileSync(join(root, "web/report.css"), "utf8") + STYLE;
  const place = (r) => Number(/\d+/.exec(r.item)?.[0] ?? 999); // of its first figure
  const papers = PAPERS.map((paper) => [paper, results.filter((r) => r.paper === paper).sort((a, b) => place(a) - place(b))]).filter(([, list]) => list.length);
  const count = (list, word) => list.filter((r) => (word === "partly" ? typeof r.matched === "string" : r.matched === (word === "matched"))).length;
  const tally = papers.map(([paper, list]) => `<tr><td><a href="#${paper}">${paper}</a></td><td class="num">${list.length}</td>${["matched", "partly", "not"].map((w) => `<td class="num">${count(list, w) || ""}</td>`).join("")}</tr>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Reproduction of the papers</title>
<style>${style}</style></head><body>
<header><p class="brand">Interim</p><h1>Reproduction of the papers</h1>
<p>What five papers state, in our words, beside what this build of Interim measures on its example files: ${count(results, "matched")} of ${results.length} statements matched, ${count(results, "partly")} partly, ${count(results, "not")} not.
Every number and curve below comes from runs; the papers' own figures are not shown.</p>
<table class="tally"><thead><tr><th>paper</th><th class="num">entries</th><th class="num">matched</th><th class="num">partly</th><th class="num">not</th></tr></thead><tbody>${tally.join("")}</tbody></table>
${left.length ? `<p class="note">Not run yet: ${left.map((n) => `<code>./do reproduce ${escape(n)}</code>`).join(", ")}</p>` : ""}</header>
<main class="text">${papers.map(([paper, list]) => `<h2 id="${paper}">${paper}</h2><p class="cite">${citeOf(paper)}</p>${list.map(cardOf).join("\n")}`).join("\n")}</main>
<footer>Written by <code>./do reproduce</code>. This page fetches nothing.</footer></body></html>
`;
}

// ---------------------------------------------------------------------------- running

const keptOf = (name) => join(out, `${name}.entry.json`);

async function runEntry(name) {
  const { run, ...entry } = (await import(pathToFileURL(join(root, "reproduce", `${name}.mjs`)))).default;
  const tools = makeTools(name);
  const started = performance.now();
  const result = { measured: "", matched: false, why: "", table: null, charts: [] };
  let word = "FAILED";
  try {
    Object.assign(result, run(tools));
    word = result.matched === true ? "matched" : result.matched === false ? "NOT matched" : result.matched;
  } catch (error) {
    result.measured = `could not be run: ${error.message}`;
    process.exitCode = 1;
  }
  const seconds = (performance.now() - started) / 1000;
  console.log(`${name}: ${word} (${seconds.toFixed(1)} s); ${result.measured}`);
  writeFileSync(keptOf(name), JSON.stringify({ name, ...entry, ...result, commands: tools.commands, pages: tools.pages, seconds }));
}

const names = readdirSync(join(root, "reproduce")).filter((f) => f.endsWith(".mjs")).map((f) => f.slice(0, -4)).sort();
const unknown = wanted.filter((name) => !names.some((n) => n.startsWith(name)));
if (unknown.length) {
  console.error(`no entry begins with '${unknown[0]}'; there are: ${names.join(", ")}`);
  process.exit(1);
}
for (const name of names) {
  if (!wanted.length || wanted.some((w) => name.startsWith(w))) await runEntry(name);
}
const kept = names.filter((name) => existsSync(keptOf(name)));
writeFileSync(join(out, "index.html"), pageOf(kept.map((name) => JSON.parse(readFileSync(keptOf(name), "utf8"))), names.filter((name) => !kept.includes(name))));
console.log(`see ${join(folder, "index.html")}`);
