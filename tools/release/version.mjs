// One version for all packages, the image and the charts. `npm run release -- VERSION` sets it everywhere and
// gives it to the lines under "Unreleased" of CHANGELOG.md; `--check` reports what differs from package.json.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const CHANGELOG = 'CHANGELOG.md';
const VERSION = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;

/** Where the version is, by file: each pattern matches what precedes it, and then the version. */
const inJson = [new RegExp(`(^  "version": ")(${VERSION})`, 'gm')];
const PLACES = new Map([
  ...['package.json', ...globSync('{libs,apps}/*/package.json', { cwd: root }).toSorted()].map((path) => [
    path,
    inJson,
  ]),
  [
    'package-lock.json',
    [
      new RegExp(`(^(?:  |      )"name": "svc",\n *"version": ")(${VERSION})`, 'gm'),
      new RegExp(
        `(^    "(?:libs|apps)/[\\w-]+": \\{\n      "name": "[^"]+",\n      "version": ")(${VERSION})`,
        'gm',
      ),
    ],
  ],
  ['deploy/charts/platform/Chart.yaml', [new RegExp(`(^(?:version|appVersion): ['"]?)(${VERSION})`, 'gm')]],
  ['deploy/charts/data/Chart.yaml', [new RegExp(`(^version: ['"]?)(${VERSION})`, 'gm')]],
  ['docs/cluster.md', [new RegExp(`(registry\\.example/svc:)(${VERSION})`, 'g')]],
]);

/** The section of a version in the changelog, without its heading. */
export function changesOf(version, text = read(CHANGELOG)) {
  const [, section] = text.split(new RegExp(`^## ${version.replaceAll('.', '\\.')}(?: .*)?\n`, 'm'));
  return section?.split(/^## /m)[0].trim();
}

export const currentVersion = () => JSON.parse(read('package.json')).version;

/** What differs from the version in package.json. */
export function versionFaults() {
  const version = currentVersion();
  const faults = [];
  for (const [path, patterns] of PLACES) {
    for (const pattern of patterns) {
      const found = [...read(path).matchAll(pattern)].map(([, , one]) => one);
      if (found.length === 0) faults.push(`${path}: has no version where one was expected`);
      for (const one of new Set(found.filter((other) => other !== version)))
        faults.push(`${path}: has the version ${one}, and package.json ${version}`);
    }
  }
  if (!changesOf(version)) faults.push(`${CHANGELOG}: has no changes of ${version}`);
  return faults;
}

/** Gives the lines under "Unreleased" this version and day. */
export function released(changelog, version, day) {
  if (!changesOf('Unreleased', changelog)) throw new Error(`${CHANGELOG} has nothing under "Unreleased"`);
  return changelog.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${day})\n`);
}

function setVersion(version) {
  const changelog = released(read(CHANGELOG), version, new Date().toISOString().slice(0, 10));
  for (const [path, patterns] of PLACES) {
    const text = patterns.reduce((whole, one) => whole.replaceAll(one, `$1${version}`), read(path));
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, CHANGELOG), changelog);
  console.log(`${version}: commit this, and tag the commit: git tag -s v${version}`);
}

if (import.meta.main) {
  const [argument] = process.argv.slice(2);
  if (argument === '--check') {
    const faults = versionFaults();
    for (const fault of faults) console.log(fault);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } else if (new RegExp(`^${VERSION}$`).test(argument ?? '')) setVersion(argument);
  else {
    console.error('Usage: npm run release -- VERSION, for example 1.2.0 or 1.2.0-rc.1');
    process.exitCode = 2;
  }
}
