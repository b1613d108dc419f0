// The console's scripts and style sheet: their size as sent, and that they name no other host, so that no
// page of it sends a request elsewhere. Its policy would refuse that too.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { allFiles, finish, read, root } from './check-sources.mjs';

const MOST_BYTES = { js: 120_000, css: 8_000 };
/** What a browser loads before it shows the sign-in page. */
const MOST_FIRST_BYTES = 30_000;

/** Names of XML, and the text of an error of a library: nothing is loaded from them. */
const ONLY_NAMED = /^https?:\/\/(?:www\.w3\.org\/|github\.com\/markedjs\/marked\.$)/;

const folder = join(root, 'libs/console/dist');
const faults = [];
const bytes = { js: 0, css: 0 };
const pages = ['index.html', 'desk.html'].map((name) => readFileSync(join(folder, name), 'utf8'));
const firstBytes = pages.map(() => 0);

for (const name of readdirSync(join(folder, 'assets'))) {
  const content = readFileSync(join(folder, 'assets', name));
  const size = gzipSync(content, { level: 9 }).length;
  bytes[name.endsWith('.css') ? 'css' : 'js'] += size;
  for (const [at, page] of pages.entries())
    if (name.endsWith('.js') && page.includes(name)) firstBytes[at] += size;
  for (const [address] of content.toString().matchAll(/\b(?:https?|wss?):\/\/[\w.-]+\.\w[\w/.-]*/g))
    if (!ONLY_NAMED.test(address)) faults.push(`libs/console: ${name} names ${address}`);
}
/** Preact writes `value` and `checked` at each render, so without a handler it undoes what somebody typed. */
const undone = (element) =>
  (/\schecked[=\s]/.test(element) ||
    (/\svalue=/.test(element) && !/type="(?:radio|checkbox)"/.test(element))) &&
  !/\son(?:Input|Change)=/.test(element);
for (const path of allFiles().filter((name) => name.startsWith('libs/console/src/') && name.endsWith('.tsx')))
  for (const [element] of read(path).matchAll(/<(?:input|select|textarea)\s(?:=>|[^>])*>/g))
    if (undone(element))
      faults.push(`${path}: without a handler, use defaultValue or defaultChecked: ${element}`);
for (const [kind, most] of Object.entries(MOST_BYTES))
  if (bytes[kind] > most) faults.push(`libs/console: ${bytes[kind]} bytes of ${kind}, at most ${most}`);
if (firstBytes.some((bytesOfPage) => bytesOfPage > MOST_FIRST_BYTES))
  faults.push(
    `libs/console: the first pages load ${firstBytes.join(' and ')} bytes of scripts, at most ${MOST_FIRST_BYTES}`,
  );
console.log(`${bytes.js} bytes of scripts, ${firstBytes.join(' and ')} at first, ${bytes.css} of styles`);
finish(faults);
