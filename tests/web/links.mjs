// Links of the documentation site: each leads to a file and a place in it, and none out of the site. node links.mjs SITE
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPages } from "./pages.mjs";

const site = process.argv[2];
const pages = findPages(site);
const places = new Map();
const placesOf = (file) => {
  if (!places.has(file)) places.set(file, new Set([...readFileSync(file, "utf8").matchAll(/ id="([^"]*)"/g)].map((m) => m[1])));
  return places.get(file);
};
let nwrong = 0, nlink = 0;
const complain = (page, words) => {
  console.log(`${page}: ${words}`);
  nwrong++;
};
for (const page of pages) {
  const path = join(site, page);
  for (const [, link] of readFileSync(path, "utf8").matchAll(/ (?:href|src)="([^"]*)"/g)) {
    const [target, place] = link.split("#"), file = target ? join(dirname(path), target) : path;
    nlink++;
    if (/^[a-z]+:/.test(link)) complain(page, `fetches ${link}`);
    else if (!existsSync(file)) complain(page, `nothing at ${link}`);
    else if (place !== undefined && !placesOf(file).has(place)) complain(page, `no place ${link}`);
  }
}
console.log(`${pages.length} pages, ${nlink} links`);
process.exitCode = nwrong || nlink < 1000 ? 1 : 0;
