// Publishes a release from the images of all architectures: node tools/release/publish.mjs REGISTRY FOLDER.
// FOLDER has svc-ARCHITECTURE.tar and svc-ARCHITECTURE.sbom.cdx.json, as deploy/image/build.mjs makes them.
// Pushes the joined image to REGISTRY/svc:VERSION and the charts to REGISTRY/charts, and adds to FOLDER what
// a release consists of: the charts, openapi.yaml, NOTICE, the changes, and SHA256SUMS. Prints the digests,
// for the next steps of a workflow also to $GITHUB_OUTPUT.
import { createHash } from 'node:crypto';
import { appendFile, copyFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { joinImages } from '../../deploy/image/build.mjs';
import { buildTool, tool } from '../../deploy/test/tools.mjs';
import { changesOf, currentVersion } from './version.mjs';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const CHARTS = ['platform', 'data'];

/** True for a registry on this machine, which has no TLS. */
const isLocal = (registry) => /^(?:127\.0\.0\.1|localhost)(?::|\/)/.test(registry);

/** Pushes the images in the folder as one; returns its digest. */
async function pushImage({ registry, folder, version }) {
  const names = await readdir(folder);
  const archives = names.filter((name) => /^svc-\w+\.tar$/.test(name)).toSorted();
  if (archives.length === 0) throw new Error(`${folder} has no svc-ARCHITECTURE.tar`);
  const layout = await mkdtemp(join(tmpdir(), 'svc-push-'));
  try {
    const joined = join(layout, 'joined.tar');
    const digest = await joinImages(
      archives.map((name) => join(folder, name)),
      joined,
    );
    await run('tar', ['-C', layout, '-xf', joined]);
    await rm(joined);
    await tool('crane', ['push', layout, `${registry}/svc:${version}`]);
    const pushed = (await tool('crane', ['digest', `${registry}/svc:${version}`])).trim();
    if (pushed !== digest) throw new Error(`the registry has ${pushed} instead of ${digest}`);
    return digest;
  } finally {
    await rm(layout, { recursive: true });
  }
}

/** Pushes a chart; returns its digest. */
async function pushChart(chart, { registry, folder, version }) {
  await tool('helm', ['package', join(root, 'deploy/charts', chart), '--destination', folder]);
  const plain = isLocal(registry) ? ['--plain-http'] : [];
  const archive = join(folder, `${chart}-${version}.tgz`);
  await tool('helm', ['push', archive, `oci://${registry}/charts`, ...plain]);
  return (await tool('crane', ['digest', `${registry}/charts/${chart}:${version}`])).trim();
}

async function sums(folder) {
  const lines = [];
  for (const name of (await readdir(folder)).toSorted()) {
    if (/\.tar$|^SHA256SUMS$/.test(name)) continue;
    const hash = createHash('sha256').update(await readFile(join(folder, name)));
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''));
}

/** Publishes to a registry; returns the digest of the image and of each chart. */
export async function publish(registry, folder) {
  for (const name of ['helm', 'crane']) await buildTool(name);
  const version = currentVersion();
  const changes = changesOf(version);
  if (!changes) throw new Error(`CHANGELOG.md has no changes of ${version}`);
  const to = { registry, folder, version };
  const digests = { image: await pushImage(to) };
  for (const chart of CHARTS) digests[chart] = await pushChart(chart, to);
  await copyFile(join(root, 'libs/openapi/openapi.yaml'), join(folder, 'openapi.yaml'));
  await copyFile(join(root, 'NOTICE'), join(folder, 'NOTICE'));
  const image = `\nImage: \`${registry}/svc:${version}@${digests.image}\`\n`;
  await writeFile(join(folder, 'changes.md'), `${changes}\n${image}`);
  await sums(folder);
  return digests;
}

if (import.meta.main) {
  const [registry, folder] = process.argv.slice(2);
  // Owners' names may have capitals, names of images may not.
  const name = registry.toLowerCase();
  const digests = await publish(name, folder);
  const lines = Object.entries({ registry: name, ...digests }).map(([key, value]) => `${key}=${value}\n`);
  process.stdout.write(lines.join(''));
  if (process.env.GITHUB_OUTPUT) await appendFile(process.env.GITHUB_OUTPUT, lines.join(''));
}
