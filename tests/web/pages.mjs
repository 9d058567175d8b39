// Pages of the documentation site, without the reports of the gallery, relative to it. SPDX-License-Identifier: Apache-2.0
import { readdirSync } from "node:fs";
import { join } from "node:path";

export function findPages(site, folder = "") {
  return readdirSync(join(site, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? (path === "gallery" ? [] : findPages(site, path)) : path.endsWith(".html") ? [path] : [];
  });
}
