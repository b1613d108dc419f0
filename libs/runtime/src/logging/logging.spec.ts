import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const LOGGING = new URL('./logging.ts', import.meta.url).href;

/** A process that logs more than the buffer holds, and ends when that is written. */
const PROGRAM = `
  import { createLogger } from '${LOGGING}';
  const log = createLogger('info');
  for (let at = 0; at < 3_000; at += 1) {
    log.info({ at, word: 'ſüß €'.repeat(at % 40) }, 'request');
    if (at % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  log.flush(() => process.exit());
`;

it('lines are written whole and in order, in any script', async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 67_108_864 });
  const lines = stdout.trimEnd().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as { at: number; word: string; level: string });
  expect(logged.map(({ at }) => at)).toEqual(Array.from({ length: 3_000 }, (_, at) => at));
  expect(logged[39]).toMatchObject({ level: 'info', msg: 'request', word: 'ſüß €'.repeat(39) });
});

/** Logs the same lines in both ways, each pair with the same time. */
const PAIRS = `
  import { createLogger, logRequest } from '${LOGGING}';
  const log = createLogger('info');
  Date.now = () => 1_760_000_000_123;
  const OfNow = Date;
  globalThis.Date = class extends OfNow { constructor(at = OfNow.now()) { super(at); } };
  const texts = ['', 'a', '"', '\\\\', '\\n\\u0001\\u007f\\u2028', 'ſüß €', 'x'.repeat(150), '"'.repeat(150), '</script>'];
  const values = [...texts, 0, -0.5, 1e21, 12.3, true, false, null, undefined];
  for (const trace_id of ['f', undefined])
    for (const value of values)
      for (const last of ['end', undefined]) {
        const line = { id: 'chatcmpl-1', trace_id, value, status: 200, last };
        log.info(line, 'request');
        logRequest(log, 'info', line);
        log.debug(line, 'request');
        logRequest(log, 'debug', line);
      }
  log.level = 'silent';
  logRequest(log, 'info', { id: 'never' });
  log.flush(() => process.exit());
`;

it('the line of a request has the bytes that the logger would write', async () => {
  const args = ['--input-type=module', '--eval', PAIRS];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBe(2 * 17 * 2 * 2);
  for (let at = 0; at < lines.length; at += 2) expect(lines[at + 1]).toBe(lines[at]);
});

/** Begins a write that is more than a pipe holds, and logs another line meanwhile. */
const HELD_UP = `
  import { createLogger } from '${LOGGING}';
  const log = createLogger('info');
  log.info({ word: 'x'.repeat(1_000_000) }, 'long');
  log.info('last');
  setTimeout(() => process.exit(), 60_000);
`;

it('a line is written although the reader held up an earlier write, and no other line follows', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HELD_UP]);
  // Longer than lines are buffered.
  await sleep(2_000);
  let logged = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (logged += more));
  await expect.poll(() => logged.includes('"msg":"last"')).toBe(true);
  child.kill();
  await once(child, 'exit');
});
