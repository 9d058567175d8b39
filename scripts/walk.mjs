// The pages of docs/ as a newcomer uses them: runs their commands and compares what they print with the pages.
//   node scripts/walk.mjs BUILD [--pictures] [--mend] [PAGE...]        PAGE: a path such as tutorials/arm.md; without one, all pages and the README
// A block of commands is indented by four spaces or fenced as sh; a block without a language shows lines of their output. `...` stands for anything.
// Numbers may differ by 1 % (compilers differ in the last bits, and contacts amplify them); times of the processor are not compared.
// A table whose head ends in `...` has further columns. With --pictures, a plot whose command stands before its picture replaces the one in docs/images.
// With --mend, lines that differ are replaced by the printed line that shares most words: read the page afterwards, also the text around them.
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const words = process.argv.slice(2), takesPictures = words.includes("--pictures"), mends = words.includes("--mend");
const [build, ...chosen] = words.filter((word) => !word.startsWith("--"));

// ---------------------------------------------------------------------------- pages

/** All pages that have commands, relative to docs/. */
function findPages() {
  const within = (folder) => readdirSync(join(root, "docs", folder)).filter((name) => name.endsWith(".md")).map((name) => posix.join(folder, name));
  return ["../README.md", ...within("guide"), ...within("tutorials")];
}

/** A page as blocks in their order: {command}, {output: lines}, {picture}. */
function readBlocks(text) {
  const blocks = [];
  const add = (lines) => {
    const joined = lines.join("\n").replace(/\\\n\s*/g, " ").split("\n");
    for (const line of joined) {
      const command = /^\$ (.*)$/.exec(line)?.[1] ?? (isCommand(line) ? line : null);
      if (command) blocks.push({ command: command.replace(/\s+#.*$/, "") });
      else if (blocks.at(-1)?.output) blocks.at(-1).output.push(line);
      else blocks.push({ output: [line] });
    }
  };
  let fence = null, block = [];
  for (const line of [...text.split("\n"), ""]) {
    const mark = /^```(\w*)/.exec(line);
    if (mark && fence === null) [fence, block] = [mark[1], []];
    else if (mark) {
      if (fence === "sh" || fence === "") add(block);
      [fence, block] = [null, []];
    } else if (fence !== null || /^ {4}\S/.test(line) || (block.length && /^ {4}/.test(line))) block.push(fence === null ? line.slice(4) : line);
    else {
      if (block.length) add(block);
      block = [];
      const picture = /^!\[.*\]\(\.\.\/(images\/.*)\)/.exec(line)?.[1];
      if (picture) blocks.push({ picture });
    }
  }
  return blocks;
}

function isCommand(line) {
  return /^(build\/interim|interim|scripts\/\S+|cmp|PYTHONPATH=\S+ python3|\.\/do) /.test(line);
}

// ---------------------------------------------------------------------------- comparison

function isSameWord(shown, printed) {
  if (shown === printed) return true;
  const [a, b] = [shown, printed].map((word) => /^\(?(-?[\d.]+(?:e[-+]?\d+)?)(%?[),;:]*)$/.exec(word));
  if (!a || !b || a[2] !== b[2]) return false;
  return Math.abs(Number(a[1]) - Number(b[1])) <= 0.01 * Math.abs(Number(b[1]));
}

/** The printed line as a page has it: without columns that a table leaves out, of which the page has `count`. */
function cut(printed, count) {
  return new RegExp(`^\\s*(?:\\S+\\s+){${count - 1}}\\S+`).exec(printed)?.[0] ?? printed;
}

/** Whether a line of a page is the printed one. `isOpen`: of a table with further columns; `times`: columns at the end that are times of the processor. */
function isSameLine(shown, printed, { isOpen, times }) {
  const a = shown.replace(/\s*\.\.\.$/, "").trim().split(/\s+/);
  const b = (isOpen || shown.endsWith("...") ? cut(printed, a.length) : printed).trim().split(/\s+/);
  const isTime = /(CPU|wall) time/.test(shown);
  return a.length === b.length && a.slice(0, a.length - times).every((word, i) => isSameWord(word, b[i]) || (isTime && /^[\d.]+$/.test(word)));
}

function printedAlready(line, printed, how) {
  return !line.trim() || line.trim() === "..." || printed.some((other) => isSameLine(line, other, how));
}

/** The printed line that shares most words, the first ones above all, to show beside one that is not there. The last one of several: the page shows its latest command. */
function nearest(shown, printed) {
  const wanted = shown.trim().split(/\s+/);
  const score = (line) => {
    const words = line.trim().split(/\s+/), first = wanted.findIndex((word, i) => word !== words[i]);
    return words.filter((word) => wanted.includes(word)).length + 2 * (first < 0 ? wanted.length : first);
  };
  return [...printed].reverse().reduce((best, line) => (score(line) > score(best) ? line : best), "");
}

// ---------------------------------------------------------------------------- walk

/** Runs one page in a folder that has build, examples and scripts as a clone has them. Returns the number of differences. */
function walk(page) {
  const folder = mkdtempSync(join(tmpdir(), "interim-walk-"));
  for (const [name, target] of [["build", resolve(build)], ["examples", join(root, "examples")], ["scripts", join(root, "scripts")]]) symlinkSync(target, join(folder, name));
  mkdirSync(join(folder, "out"));
  if (existsSync(join(root, "out/python"))) symlinkSync(join(root, "out/python"), join(folder, "out/python"));
  const printed = [], report = (text) => console.log(`${page}: ${text}`);
  let differences = 0, plot = null, hasRun = false, text = readFileSync(join(root, "docs", page), "utf8");
  for (const block of readBlocks(text)) {
    if (block.command?.startsWith("./do ")) continue; // builds, and takes minutes
    if (block.command) {
      const result = spawnSync("sh", ["-c", block.command], { cwd: folder, encoding: "utf8", timeout: 300000, maxBuffer: 1 << 28, env: { ...process.env, PATH: `${resolve(build)}:${process.env.PATH}`, MPLBACKEND: "Agg" } });
      hasRun = result.status === 0 || result.status === 2 || result.stdout !== "";
      printed.push(...`${result.stdout}${result.stderr}`.split("\n"));
      plot = /\bplot\b.* -o (\S+)/.exec(block.command)?.[1] ?? plot;
      if (![0, 2].includes(result.status)) report(`status ${result.status}: ${block.command}\n    ${result.stderr.trim().split("\n")[0]}`);
    } else if (block.picture && plot && takesPictures && block.picture.endsWith(".svg")) {
      copyFileSync(join(folder, plot), join(root, "docs", block.picture));
      plot = null;
    } else if (block.output && hasRun) {
      const how = { isOpen: block.output.some((line) => /\S {2,}\.\.\.$/.test(line)), times: block.output.some((line) => /cpu_time\s+real_time_factor/.test(line)) ? 2 : 0 };
      const mended = block.output.map((line) => {
        if (!line.trim() || line.trim() === "...") return line;
        const same = printed.findLast((other) => isSameLine(line, other, how)), other = same ?? nearest(line, printed);
        if (same === undefined) {
          differences++;
          report(`the page has\n    ${line.trim()}\n  nearest in what was printed:\n    ${other.trim()}`);
        }
        const ending = /\s*\.\.\.$/.exec(line)?.[0] ?? "", count = line.slice(0, line.length - ending.length).trim().split(/\s+/).length;
        return how.isOpen || ending ? cut(other, count) + ending : other;
      });
      // a table is taken over as a whole, because its columns have other widths now
      if (mends && mended.some((line, i) => !printedAlready(block.output[i], printed, how))) block.output.forEach((line, i) => (text = text.replace(line, () => mended[i])));
    }
  }
  if (mends) writeFileSync(join(root, "docs", page), text);
  rmSync(folder, { recursive: true });
  return differences;
}

const pages = chosen.length ? chosen : findPages();
const differences = pages.reduce((sum, page) => sum + walk(page), 0);
console.log(`${pages.length} pages, ${differences} lines differ`);
process.exitCode = differences ? 1 : 0;
