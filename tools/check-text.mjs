// Checks the text of all files for forbidden content and unclear phrases, the width of comments, and that
// links and READMEs are valid.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { allFiles, finish, isCode, read, root } from './check-sources.mjs';

const maxBytes = 1024 * 1024;
const maxReadmeLines = 80;

const everywhere = [
  [/\.\.\/shared\b/, 'a path that only one machine has'],
  [/(?<![\w.-])\/(?:work|root|home\/\w+)\//, 'a path that only one machine has'],
  [/\b(?:this|previous|earlier|last|next) sessions?\b/i, 'tells how the work was made'],
  [/\b(?:issue|task|ticket) #?\d+\b/i, 'tells how the work was made'],
  [/\bas (?:requested|instructed) by\b/i, 'tells how the work was made'],
  [/\bunless (?:told)\b/i, 'says too little: "default: …" or "without it …"'],
  [/\b(?:TO[D]O|FIX[M]E|X{3})\b(?!\([\w-]+\))/, 'an open end without a name: write it as WORD(name)'],
];
/** Phrases that a reader has to read twice. Split, so that this file passes its own check. */
const unclear = [
  [/\bfor (?:good)\b/, 'is unclear: write "permanently" or "without expiry"'],
  [/\ba(?:new)\b/, 'is unclear: write "again"'],
  [/\bso (?:many|long)\b(?! as\b| that\b)/i, 'is unclear: give the number or the duration'],
  [/\b(?:is|are|was|were) (?:told)\b/, 'is unclear: name what the program gets, returns or reports'],
  [/\bcan (?:not)\b/, 'is one word: "cannot"'],
  [/\bwho (?:asks)\b/, 'is unclear: write "the caller"'],
  [/\b(?:if there|that) is (?:none)\b/, 'is unclear: name what is missing or invalid'],
];
/** A comment of more than 110 columns, unless it is one word, such as a URL. */
const wideComment = /^(?=.{111})\s*(?:\/\/|\/\*\*|\*)\s+\S+\s+\S/;
const inCode = [
  [/\b(?:ox|es)lint-(?:disable|enable)/, 'switches a check off'],
  [/@ts-(?:ignore|expect-error|nocheck)\b/, 'switches a check off'],
  [/\b(?:prettier|v8|c8|istanbul)[ -]ignore\b/, 'switches a check off'],
  [/^\s*(?:\/\/|\*|#)\s*[-=*#]{5,}/, 'is a banner'],
  [wideComment, 'begins a comment line of more than 110 columns'],
];
const isText = (path) =>
  /\.(md|ya?ml|json|sh|prisma|sql|toml|tpl|lua|txt)$|(^|\/)(Dockerfile|run|LICENSE)$/.test(path);
const unread = new Set(['package-lock.json', 'LICENSE']);

const faults = [];

function checkLines(path, rules) {
  read(path)
    .split('\n')
    .forEach((line, index) => {
      for (const [pattern, fault] of rules) {
        const match = pattern.exec(line);
        if (match) faults.push(`${path}:${index + 1}: "${match[0].trim()}" ${fault}`);
      }
    });
}

/** Markdown links into the repository, except in code blocks. */
function checkLinks(path) {
  const text = read(path).replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  text.split('\n').forEach((line, index) => {
    for (const [, target] of line.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)) {
      if (/^([a-z][a-z+.-]*:|#)/i.test(target)) continue;
      const file = posix.join(dirname(path), decodeURI(target.replace(/[#?].*$/, '')));
      if (!existsSync(join(root, file)))
        faults.push(`${path}:${index + 1}: the link ${target} points to nothing`);
    }
  });
}

function checkReadme(folder) {
  const path = posix.join(folder, 'README.md');
  if (!existsSync(join(root, path))) return faults.push(`${path}: is missing`);
  const lines = read(path).trimEnd().split('\n').length;
  if (folder !== '.' && lines > maxReadmeLines)
    faults.push(`${path}: has ${lines} lines, ${maxReadmeLines} are allowed`);
}

const files = allFiles();
for (const path of files) {
  const bytes = statSync(join(root, path)).size;
  if (bytes > maxBytes) faults.push(`${path}: has ${bytes} bytes, ${maxBytes} are allowed`);
  if (unread.has(path)) continue;
  if (isCode(path)) checkLines(path, [...everywhere, ...unclear, ...inCode]);
  else if (isText(path)) checkLines(path, [...everywhere, ...unclear]);
  if (path.endsWith('.md')) checkLinks(path);
}
for (const folder of new Set(files.map((path) => /^libs\/[^/]+/.exec(path)?.[0] ?? '.'))) checkReadme(folder);
finish(faults);
