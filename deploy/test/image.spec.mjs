import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packImage } from '../image/build.mjs';
import { USER, makeRoot } from '../image/rootfs.mjs';
import { isOnlyTool, licenceFault } from '../../tools/release/licences.mjs';
import { CHART } from './chart.mjs';

const run = promisify(execFile);
const MOST_BYTES = 250_000_000;
const TOKEN = 'operator-token-of-the-test-of-the-image';

/** The root is built from Debian's packages, and the test enters it like a container engine. */
function isPossible() {
  try {
    execFileSync('unshare', ['--mount', '--pid', '--fork', 'dpkg-deb', '--version']);
    return true;
  } catch {
    return false;
  }
}

const canBuild = isPossible();
if (!canBuild) console.warn('THE IMAGE IS NOT TESTED: that needs Debian and its root');

/**
 * Runs a process of the image like a container engine: as process 1 of its own namespace, with the image's
 * user, a read-only root, /tmp, and a volume.
 */
class Container {
  constructor(root, { command, env = {}, data }) {
    const script = [
      'set -e',
      'mount --bind "$1" "$1"',
      'mount -t tmpfs tmpfs "$1/tmp"',
      'mount --bind "$2" "$1/var/lib/svc"',
      'mount --bind /dev "$1/dev"',
      'mount -t proc proc "$1/proc"',
      'mount -o remount,ro,bind "$1"',
      'cd "$1"',
      `exec chroot --userspec=${USER}:${USER} . /bin/sh -c 'cd /svc && exec ${command}'`,
    ].join('\n');
    const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', root, data];
    const environment = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', NODE_ENV: 'production', ...env };
    this.process = spawn('unshare', args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.output = '';
    for (const stream of [this.process.stdout, this.process.stderr])
      stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.ended = once(this.process, 'exit').then(([code]) => code);
  }

  async until(pattern) {
    for (let tries = 0; tries < 2400; tries += 1) {
      const found = pattern.exec(this.output);
      if (found) return found[1];
      if (this.process.exitCode !== null) break;
      await sleep(100);
    }
    throw new Error(`it does not say ${pattern}: ${this.output}`);
  }

  /** The id of the namespace's process 1 outside of the namespace. */
  async pid() {
    const { pid } = this.process;
    return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
  }
}

describe.runIf(canBuild)('the image, if this is Debian and the user is root', () => {
  let folder;
  let root;
  let data;
  let sbom;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-image-test-'));
    await chmod(folder, 0o755);
    [root, data] = [join(folder, 'root'), join(folder, 'data')];
    await Promise.all([mkdir(root), mkdir(data)]);
    await chown(data, USER, USER);
    sbom = await makeRoot(root);
  }, 600_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Files of the image, without links, as lines. */
  const find = async (...terms) =>
    (await run('find', [root, '-type', 'f', ...terms])).stdout.trim().split('\n');

  it('has at most 250 MB', async () => {
    const bytes = (await find('-printf', '%s\n')).reduce((sum, size) => sum + Number(size), 0);
    expect(bytes).toBeGreaterThan(100_000_000);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  it('has no npm, no tests, no sources, and no program with the rights of another user', async () => {
    const paths = await find('-printf', '/%P\n');
    expect(paths.length).toBeGreaterThan(1000);
    expect(paths.filter((path) => /\/npm(\/|$)|\.spec\.|\/svc\/(apps|libs)\/.*\.ts$/.test(path))).toEqual([]);
    expect(await find('-perm', '/6000')).toEqual(['']);
  });

  it('lists every package that it contains', async () => {
    const lists = await find('-path', '*/node_modules/*', '-name', 'package.json', '-printf', '%P\n');
    const names = lists.flatMap(
      (path) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    const named = new Set(sbom.components.map(({ name }) => name));
    expect(names.filter((name) => !name.startsWith('@svc/') && !named.has(name))).toEqual([]);
    expect([...named]).toEqual(expect.arrayContaining(['node', 'fastify', 'libc6', 'kafkajs']));
    expect(JSON.parse(await readFile(join(root, 'svc/sbom.cdx.json'), 'utf8'))).toEqual(sbom);
  });

  it('has only packages under known licences, their texts, and NOTICE', async () => {
    const npm = sbom.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
    expect(npm.length).toBeGreaterThan(100);
    const unknown = npm.map(({ name, licenses }) => licenceFault(name, licenses?.[0].expression ?? 'none'));
    expect(unknown.filter(Boolean)).toEqual([]);
    expect(npm.filter(({ name }) => isOnlyTool(name))).toEqual([]);
    expect(await readFile(join(root, 'svc/NOTICE'), 'utf8')).toContain('LGPL-3.0-or-later');
    const texts = await readFile(join(root, 'svc/third-party-licences.txt'), 'utf8');
    for (const name of ['fastify', 'sharp', 'kafkajs']) expect(texts).toContain(name);
    for (const name of ['libc6', 'libgcc-s1']) await access(join(root, `usr/share/doc/${name}/copyright`));
  });

  it.each([
    ['apps/api-gateway/dist/main.js', 'SVC_OPERATOR_TOKEN is not set'],
    ['apps/inference-router/dist/main.js', 'ROUTER_TOKEN is not set'],
    ['apps/billing-ledger/dist/main.js', 'REDIS_URL is not set'],
    ['apps/rate-limiter/dist/main.js', 'REDIS_URL is not set'],
    ['apps/retrieval-worker/dist/main.js', 'RETRIEVAL_TOKEN is not set'],
    ['apps/media-worker/dist/main.js', 'ROUTER_URL is not set'],
    ['tools/migrate.mjs', 'DATABASE_URL is not set'],
    ['tools/topics.mjs', 'KAFKA_BROKERS is not set'],
    ['tools/first-account.mjs', 'OPERATOR_URL is not set'],
    ['tools/catalog.mjs', 'Usage: catalog check'],
    ['tools/dead-letters.mjs list', 'Set KAFKA_BROKERS, or DATABASE_URL'],
    ['tools/svcctl.mjs accounts', 'Set SVC_OPERATOR_TOKEN'],
  ])('%s finds all of its imports, and reports a missing setting', async (main, need) => {
    const container = new Container(root, { command: `node ${main}`, data });
    expect(await container.ended).toBe(1);
    expect(container.output).toContain(need);
    expect(container.output).not.toContain('ERR_MODULE_NOT_FOUND');
  });

  it('runs as process 1 on a read-only root, completes a payment, and finishes open streams after SIGTERM', async () => {
    const env = {
      HOST: '127.0.0.1',
      PORT: '0',
      OPERATOR_PORT: '0',
      SVC_DATA_DIR: '/var/lib/svc/data',
      SVC_OPERATOR_TOKEN: TOKEN,
    };
    const container = new Container(root, { command: 'node apps/all/dist/main.js', env, data });
    const key = await container.until(/API key\s+(\S+)/);
    const [api, operator] = ['API ', 'Operator API'].map(
      (name) => new RegExp(`${name}\\s+(http://[\\d.:]+)`).exec(container.output)[1],
    );
    const paid = { API_URL: api, OPERATOR_URL: operator, SVC_OPERATOR_TOKEN: TOKEN, MODEL: 'default' };
    const { stdout } = await run(process.execPath, [`${CHART}/files/paid-request.mjs`], {
      env: { ...process.env, ...paid },
    });
    expect(stdout).toContain('the books say the same');

    const page = await fetch(`${api}/console`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, script] = /"(\/console\/assets\/[^"]+\.js)"/.exec(await page.text());
    expect((await fetch(`${api}${script}`)).status).toBe(200);

    // What `kubectl exec` runs beside it, with its environment.
    const own = { OPERATOR_PORT: new URL(operator).port, SVC_OPERATOR_TOKEN: TOKEN };
    const svcctl = async (args) => {
      const beside = new Container(root, { command: `svcctl ${args}`, env: own, data });
      expect([await beside.ended, beside.output]).toEqual([0, expect.any(String)]);
      return beside.output;
    };
    const made = JSON.parse(await svcctl('customer Acme --usd 50.00 --reference invoice-17 --json'));
    expect(made).toMatchObject({ name: 'Acme', balance: '50.00', apiKey: expect.any(String) });
    expect(await svcctl('accounts --search Acme')).toMatch(/^ID +NAME.*\n.*Acme.*50\.00/);
    expect(await svcctl('--help')).toContain('Show help');
    expect(await svcctl('completion')).toContain('complete');

    const pid = await container.pid();
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m);
    expect(status).toMatch(new RegExp(`^Uid:\\s+${USER}\\s`, 'm'));
    const stream = await fetch(`${api}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'default',
        stream: true,
        messages: [{ role: 'user', content: 'Hello [[sim itl-ms=100 tokens=30]]' }],
      }),
    });
    expect(stream.status).toBe(200);
    process.kill(pid, 'SIGTERM');
    const text = await stream.text();
    expect(text).toContain('"cost"');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(await container.ended).toBe(0);
  }, 600_000);

  it('is packed as a reproducible OCI archive with correct digests', async () => {
    const archives = ['one.tar', 'other.tar'].map((name) => join(folder, name));
    const images = [];
    for (const archive of archives) images.push(await packImage(root, archive));
    expect(images[1].digest).toBe(images[0].digest);
    const layout = join(folder, 'oci');
    await mkdir(layout);
    await run('tar', ['-C', layout, '-xf', archives[0]]);
    for (const name of await readdir(join(layout, 'blobs/sha256'))) {
      const bytes = await readFile(join(layout, 'blobs/sha256', name));
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(name);
    }
    const read = async (digest) =>
      JSON.parse(await readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'));
    const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
    const { config, layers } = await read(manifests[0].digest);
    const { config: settings, rootfs } = await read(config.digest);
    expect(settings).toMatchObject({ User: `${USER}:${USER}`, WorkingDir: '/svc', StopSignal: 'SIGTERM' });
    expect(settings.Entrypoint).toBeUndefined();
    expect(rootfs.diff_ids).toHaveLength(layers.length);
  }, 600_000);
});
