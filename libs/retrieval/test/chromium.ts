import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHROMIUM = 'chromium';
/** Without it, tests that need it are skipped. */
export const hasChromium = spawnSync(CHROMIUM, ['--version']).status === 0;
if (!hasChromium) process.stderr.write(`SKIPPED: pages with scripts. There is no ${CHROMIUM}.\n`);

/** Started like an operator's. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

export interface TestBrowser {
  readonly url: string;
  close(): Promise<void>;
}

/** A real browser with its own data folder. */
export async function startChromium(): Promise<TestBrowser> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-chromium-'));
  const child = spawn(
    CHROMIUM,
    [...FLAGS, `--user-data-dir=${dir}`, '--remote-debugging-port=0', 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  let output = '';
  for await (const piece of child.stderr) {
    output += String(piece);
    const [, host] = /DevTools listening on ws:\/\/([^/]+)\//.exec(output) ?? [];
    if (host !== undefined) {
      child.stderr.resume();
      return { url: `http://${host}`, close };
    }
  }
  await close();
  throw new Error(`${CHROMIUM} has ended: ${output}`);
}
