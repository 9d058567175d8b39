// Runs the entries of reproduce/ and writes a page with what the papers say beside what came out here.
//   node scripts/reproduce.mjs INTERIM OUT [NAME...]
// An entry is one file, reproduce/NAME.mjs; reproduce/README.md says what it holds.
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
  return { status: result.status, text: result.stdout + result.stderr, command: ["interim", ...words.map((w) => w.replace(`${out}/`, ""))].join(" ") };
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
    if (existsSync(html)) pages.push(basename(html));
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
    /** interim sweep MODEL with a report: its rows. */
    sweep(model, options, suffix = "") {
      const { csv, html } = files(suffix);
      note(call(["sweep", model, ...options, "-o", csv, "--report", html]), html);
      return readTable(csv);
    },
  };
}

// ---------------------------------------------------------------------------- page

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function verdictOf(matched) {
  if (matched === true) return '<span class="verdict finished">matched</span>';
  if (matched === false) return '<span class="verdict broke-down">not matched</span>';
  return `<span class="verdict interrupted">${escape(matched)}</span>`;
}

function rowOf({ entry, result }) {
  const links = result.pages.map((page) => `<a href="${escape(page)}">${escape(page)}</a>`).join("<br>");
  const commands = result.commands.map((c) => `<code>${escape(c)}</code>`).join("<br>");
  return `<tr><td>${escape(entry.paper)}<br><b>${escape(entry.item)}</b></td><td>${escape(entry.says)}</td>
<td>${escape(result.measured)}</td><td>${verdictOf(result.matched)}${result.why ? `<br>${escape(result.why)}` : ""}</td>
<td>${links}<details><summary>commands</summary>${commands}</details></td></tr>`;
}

function pageOf(results) {
  const count = (m) => results.filter(({ result }) => result.matched === m).length;
  const style = readFileSync(join(root, "web/report.css"), "utf8");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Reproduction of the papers</title>
<style>${style}
table.papers { width: 100%; table-layout: fixed; } table.papers td { padding: 0.6rem 0.8rem; } table.papers th:first-child { width: 10%; } table.papers th:nth-child(4) { width: 14%; } table.papers th:nth-child(2), table.papers th:nth-child(3) { width: 30%; } main a { color: var(--accent); overflow-wrap: anywhere; }
table.papers code { font-size: 0.75rem; overflow-wrap: anywhere; }</style></head><body>
<header><p class="brand">Interim</p><h1>Reproduction of the papers</h1>
<p>Every statement below was measured by running this build of Interim on its example files: ${count(true)} of ${results.length} matched, ${count(false)} not.
The papers' figures are not shown; what they say is told in our words.</p></header>
<main class="text"><table class="errors papers"><thead><tr><th>paper</th><th>it says</th><th>measured here</th><th>matched</th><th>reports</th></tr></thead>
<tbody>${results.map(rowOf).join("\n")}</tbody></table></main>
<footer>Written by <code>./do reproduce</code>. This page fetches nothing.</footer></body></html>
`;
}

// ---------------------------------------------------------------------------- running

async function runEntry(name) {
  const entry = (await import(pathToFileURL(join(root, "reproduce", `${name}.mjs`)))).default;
  const tools = makeTools(name);
  const started = performance.now();
  try {
    const { measured, matched, why = "" } = entry.run(tools);
    console.log(`${name}: ${matched === true ? "matched" : matched === false ? "NOT matched" : matched}; ${measured} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    return { entry, result: { measured, matched, why, ...tools } };
  } catch (error) {
    console.log(`${name}: FAILED: ${error.message}`);
    process.exitCode = 1;
    return { entry, result: { measured: `could not be run: ${error.message}`, matched: false, why: "", ...tools } };
  }
}

const names = readdirSync(join(root, "reproduce")).filter((f) => f.endsWith(".mjs")).map((f) => f.slice(0, -4)).sort();
const unknown = wanted.filter((name) => !names.some((n) => n.startsWith(name)));
if (unknown.length) {
  console.error(`no entry begins with '${unknown[0]}'; there are: ${names.join(", ")}`);
  process.exit(1);
}
const results = [];
for (const name of names) {
  if (!wanted.length || wanted.some((w) => name.startsWith(w))) results.push(await runEntry(name));
}
writeFileSync(join(out, "index.html"), pageOf(results));
console.log(`see ${join(folder, "index.html")}`);
