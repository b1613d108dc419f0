import { execFile } from 'node:child_process';
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
