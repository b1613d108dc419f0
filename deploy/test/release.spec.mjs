// Publishes a release to a registry on this machine, as the workflow does: joined image, charts and files.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { joinImages, packImage } from '../image/build.mjs';
import { publish } from '../../tools/release/publish.mjs';
import { released } from '../../tools/release/version.mjs';
import { ROOT } from './documented.mjs';
import { programOf, tool } from './tools.mjs';

const run = promisify(execFile);
const { version } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));

let folder;
let images;
let registry;
let server;
let digests;

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  listener.close();
  await once(listener, 'close');
  return port;
}

/** A small root, packed for an architecture. */
async function imageFor(architecture) {
  const root = join(folder, `root-${architecture}`);
  await mkdir(join(root, 'svc'), { recursive: true });
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await writeFile(join(root, 'svc/package.json'), JSON.stringify({ version }));
  await writeFile(join(root, 'usr/bin/node'), architecture);
  await packImage(root, join(images, `svc-${architecture}.tar`), architecture);
  await writeFile(join(images, `svc-${architecture}.sbom.cdx.json`), '{}');
}

async function startRegistry() {
  const address = `127.0.0.1:${await freePort()}`;
  server = spawn(programOf('crane'), ['registry', 'serve', '--address', address], { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries += 1) {
    const response = await fetch(`http://${address}/v2/`).catch(() => undefined);
    if (response?.ok) return `${address}/owner`;
    await sleep(100);
  }
  throw new Error('the registry does not respond');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-release-test-'));
  images = join(folder, 'out');
  await mkdir(images);
  await imageFor('amd64');
  await imageFor('arm64');
  registry = await startRegistry();
  digests = await publish(registry, images);
}, 600_000);

afterAll(async () => {
  if (server) {
    server.kill();
    await once(server, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

it('the image has both architectures under its version, and every blob that it names', async () => {
  const name = `${registry}/svc@${digests.image}`;
  const { manifests } = JSON.parse(await tool('crane', ['manifest', name]));
  expect(manifests.map(({ platform }) => platform.architecture)).toEqual(['amd64', 'arm64']);
  await tool('crane', ['validate', '--remote', name]);
  for (const architecture of ['amd64', 'arm64']) {
    const platform = ['--platform', `linux/${architecture}`];
    const config = JSON.parse(await tool('crane', ['config', ...platform, `${registry}/svc:${version}`]));
    expect(config.architecture).toBe(architecture);
  }
});

it('the charts can be pulled, and install the image of the same version', async () => {
  const pulled = join(folder, 'pulled');
  await mkdir(pulled);
  for (const chart of ['platform', 'data']) {
    const source = `oci://${registry}/charts/${chart}`;
    await tool('helm', ['pull', source, '--version', version, '--plain-http', '--destination', pulled]);
  }
  const args = ['template', 'svc', join(pulled, `platform-${version}.tgz`)];
  const rendered = await tool('helm', [...args, '--set', 'image.repository=registry.example/svc']);
  expect(rendered).toContain(`registry.example/svc:${version}`);
});

it('its files are the charts, SBOMs, the API description, NOTICE and the changes, with their sums', async () => {
  expect((await readdir(images)).toSorted()).toEqual(
    [
      'NOTICE',
      'SHA256SUMS',
      'changes.md',
      `data-${version}.tgz`,
      'openapi.yaml',
      `platform-${version}.tgz`,
      'svc-amd64.sbom.cdx.json',
      'svc-amd64.tar',
      'svc-arm64.sbom.cdx.json',
      'svc-arm64.tar',
    ].toSorted(),
  );
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: images });
  expect(stdout).toContain('openapi.yaml: OK');
  expect(stdout.trim().split('\n')).toHaveLength(7);
  expect(await readFile(join(images, 'changes.md'), 'utf8')).toContain(digests.image);
});

it('two images of one architecture are not joined', async () => {
  const archive = join(images, 'svc-amd64.tar');
  await expect(joinImages([archive, archive], join(folder, 'twice.tar'))).rejects.toThrow(
    'same architecture',
  );
});

it('the image of a single architecture has the digest that its archive has', async () => {
  const layout = join(folder, 'layout');
  await mkdir(layout);
  await run('tar', ['-C', layout, '-xf', join(images, 'svc-arm64.tar')]);
  const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
  const [{ digest }] = index.manifests;
  const bytes = await readFile(join(layout, 'blobs', digest.replace(':', '/')));
  expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
});

it('a version gets the lines under Unreleased, and none without lines', () => {
  const changelog = '# Changes\n\n## Unreleased\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- Old.\n';
  expect(released(changelog, '1.1.0', '2026-02-01')).toBe(
    '# Changes\n\n## Unreleased\n\n## 1.1.0 (2026-02-01)\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- Old.\n',
  );
  expect(() => released('## Unreleased\n\n## 1.0.0\n\n- Old.\n', '1.1.0', '2026-02-01')).toThrow('nothing');
});
