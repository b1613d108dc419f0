// The licences of the packages that the platform needs to run, by the lock file, and NOTICE, which names
// those that ask for more than a copy of their text: node tools/release/licences.mjs [--check]. A licence
// that is not listed here is reported, so nobody ships one unread.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Licences that only ask for a copy of their text, which the image has in `third-party-licences.txt`. */
const PERMISSIVE = new Set(
  '0BSD Apache-2.0 BSD BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 CC0-1.0 ISC MIT MIT-0 PostgreSQL Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);

/** Packages under other licences: how they are used, and what that asks for. */
const OTHERS = [
  {
    packages: /^@img\/sharp-(libvips|wasm32|win32)/,
    licence: 'LGPL-3.0-or-later',
    text: `libvips and the libraries it is built from, as shared libraries that sharp loads when it runs. They are unchanged,
and can be replaced: put another build of the same name in place of the file in node_modules/@img. Their sources and build
scripts: https://github.com/lovell/sharp-libvips, whose tag is the version of the package; the versions of the libraries are
in versions.json of the package.`,
  },
  {
    packages: /^libheif-js$/,
    licence: 'LGPL-3.0',
    text: `libheif and libde265, compiled to WebAssembly in a module of their own, libheif-bundle.mjs, which is imported when it is
needed. They are unchanged, and can be replaced by another build of the same name. Sources: https://github.com/strukturag/libheif,
https://github.com/strukturag/libde265 and https://github.com/catdad-experiments/libheif-emscripten.`,
  },
  {
    packages: /^elkjs$/,
    licence: 'EPL-2.0',
    isTool: true,
    text: `Installed with Prisma's command, which builds the client. It is not part of the image and not loaded by any
process of the platform. Sources: https://github.com/kieler/elkjs.`,
  },
];

/** Packages whose metadata has no licence; read from the files of the package. */
const READ_BY_HAND = { 'seq-queue': 'MIT' };

/** What an image contains in addition to packages of npm. */
const SYSTEM = `## Programs and libraries of the image

- Node.js (MIT, with the licences of its own parts in its LICENSE) and PostgreSQL (PostgreSQL licence), unchanged but for the
  debugging symbols of Node.
- Packages of Debian: base-files, dash, gcc-base, libatomic1, libc6 (LGPL-2.1-or-later), libgcc-s1 and libstdc++6 (GPL-3.0-or-later with
  the GCC Runtime Library Exception). Their texts are in /usr/share/doc of the image, and their sources at
  https://sources.debian.org under the versions in svc/sbom.cdx.json.`;

const HEADER = `svc
Copyright the authors of svc

Licensed under the Apache License 2.0; the text is in LICENSE.

Every package of a release, with its version and licence, is in svc/sbom.cdx.json of the image and attached to the release;
the licence texts are in svc/third-party-licences.txt of the image. The following ask for more than a copy of their text.`;

const nameOf = (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];

/** The licence of a package whose entry has none: that of the package which names it for one platform. */
function licenceOf(path, packages) {
  const name = nameOf(path);
  const { license } = packages[path];
  if (license) return license;
  if (READ_BY_HAND[name]) return READ_BY_HAND[name];
  const owner = Object.values(packages).find((entry) => entry.optionalDependencies?.[name]);
  return owner?.license ?? 'unknown';
}

/** The licences of an expression that allows a choice, or that asks for several. */
const isPermissive = (expression) => {
  const plain = expression.replaceAll(/[()]/g, '');
  if (/ OR /i.test(plain)) return plain.split(/ OR /i).some(isPermissive);
  return plain.split(/ AND /i).every((one) => PERMISSIVE.has(one.trim()));
};

/** Why a package may not be shipped, or undefined. */
export function licenceFault(name, expression) {
  if (isPermissive(expression)) return undefined;
  const other = OTHERS.find(({ packages }) => packages.test(name));
  if (other && expression.includes(other.licence)) return undefined;
  return `${name}: the licence ${expression} is not listed in tools/release/licences.mjs`;
}

/** Whether a package is in NOTICE and must not be in the image. */
export const isOnlyTool = (name) => OTHERS.some(({ packages, isTool }) => isTool && packages.test(name));

/** The packages that `npm ci --omit=dev` may install, on any platform, with their licences. */
export function packagesOf(lock) {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.link && !entry.dev)
    .map(([path]) => ({ path, name: nameOf(path), licence: licenceOf(path, lock.packages) }));
}

/** A package's files of licences; some packages have a folder of them. */
function textFiles(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => /^(licen[cs]e|copying|notice)/i.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isFile()) return [path];
      return readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((inner) => inner.isFile())
        .map((inner) => join(inner.parentPath, inner.name));
    });
}

/** The licence texts of these packages, each text once with the packages that have it. */
export function licenceTexts(paths) {
  const texts = new Map();
  for (const path of paths) {
    const folder = join(root, path);
    if (!existsSync(folder)) continue;
    for (const file of textFiles(folder)) {
      const text = readFileSync(file, 'utf8').trim();
      texts.set(text, [...(texts.get(text) ?? []), path.replace(/^node_modules\//, '')]);
    }
  }
  return [...texts]
    .map(([text, names]) => `${names.join(', ')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function notice(packages) {
  const parts = OTHERS.map(({ packages: pattern, licence, text }) => {
    const names = [...new Set(packages.filter(({ name }) => pattern.test(name)).map(({ name }) => name))];
    return names.length === 0 ? [] : [`## ${licence}: ${names.join(', ')}\n\n${text}`];
  });
  return `${[HEADER, ...parts.flat(), SYSTEM].join('\n\n')}\n`;
}

if (import.meta.main) {
  const packages = packagesOf(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const faults = packages.map(({ name, licence }) => licenceFault(name, licence)).filter(Boolean);
  const file = join(root, 'NOTICE');
  const text = notice(packages);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
    faults.push('NOTICE: does not match the lock file; update it with: npm run notice');
  for (const fault of new Set(faults)) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
