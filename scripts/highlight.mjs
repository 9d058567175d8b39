// Colours of code in pages: a few kinds of words, enough to read by.
// SPDX-License-Identifier: Apache-2.0
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const C_WORDS = "const|static|inline|struct|enum|typedef|void|int|long|double|float|bool|char|size_t|uint32_t|unsigned|return|if|else|for|while|switch|case|break|sizeof|true|false|NULL";
const PYTHON_WORDS = "import|from|as|def|return|for|in|if|else|elif|while|with|lambda|not|and|or|None|True|False|class|print";

/** Rules of a language: [kind, pattern], the first that fits takes the text. */
const RULES = {
  yaml: [["comment", /#.*/y], ["text", /"[^"\n]*"|'[^'\n]*'/y], ["key", /[\w.-]+(?=:(\s|$))/y], ["number", /-?\b\d[\d.]*(e[-+]?\d+)?\b/y], ["word", /\b(true|false|null)\b/y]],
  c: [["comment", /\/\/.*|\/\*[\s\S]*?\*\//y], ["text", /"(\\.|[^"\\\n])*"|'(\\.|[^'\\])'/y], ["key", /\b(Itm\w+|itm_\w+|ITM_\w+)\b/y], ["word", new RegExp(`\\b(${C_WORDS})\\b|#\\w+`, "y")], ["number", /\b\d[\w.]*\b/y]],
  python: [["comment", /#.*/y], ["text", /"[^"\n]*"|'[^'\n]*'/y], ["word", new RegExp(`\\b(${PYTHON_WORDS})\\b`, "y")], ["number", /\b\d[\d.]*(e[-+]?\d+)?\b/y]],
  sh: [["comment", /(?<=^|\s)#.*/my], ["text", /"[^"\n]*"|'[^'\n]*'/y], ["key", /(?<=^|\n)\s*(\.\/do|interim|cmake|git|pip|python3)\b/y], ["word", /(?<=\s)--?[A-Za-z][\w-]*/y]],
};

/** Which language a piece of code without a name is in. */
function guess(code) {
  if (/^\s*(\.\/do|interim|cmake|\$ )/m.test(code)) return "sh";
  if (/\bItm\w+|#include/.test(code)) return "c";
  if (/^import |^from /m.test(code)) return "python";
  return /^\s*[\w.-]+:(\s|$)/m.test(code) ? "yaml" : "";
}

export function highlight(code, language) {
  const rules = RULES[{ shell: "sh", bash: "sh", py: "python", yml: "yaml" }[language] ?? language] ?? RULES[guess(code)];
  if (!rules) return escape(code);
  let out = "", plain = "";
  for (let i = 0; i < code.length; ) {
    let hit = null;
    for (const [kind, pattern] of rules) {
      pattern.lastIndex = i;
      const match = pattern.exec(code);
      if (match && match[0]) {
        hit = [kind, match[0]];
        break;
      }
    }
    if (!hit) {
      // a word whole: no rule starts in its middle
      const word = /^[\w.]+|^[\s\S]/.exec(code.slice(i))[0];
      plain += word;
      i += word.length;
      continue;
    }
    out += escape(plain) + `<span class="h-${hit[0]}">${escape(hit[1])}</span>`;
    plain = "";
    i += hit[1].length;
  }
  return out + escape(plain);
}
