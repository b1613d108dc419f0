// Runs the commands of docs/on-call.md as written, in a terminal set up as the runbooks say.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, OPERATOR_TOKEN } from '../deployment.js';
import { startObservedCluster } from './harness.js';
import { hasPrometheus, startObservedPlatform } from './observed-platform.js';
import { troubledCatalog } from './troubled-load.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The questions with the commands of their answers. In a table, `|` is written as `\|`. */
const COMMANDS = Array.from(read('docs/on-call.md').matchAll(/^\| (\d+)\. (.*?) \| (.*) \|$/gm)).flatMap(
  ([, number = '', , answer = '']) =>
    Array.from(answer.matchAll(/`((?:ask|operator|svcctl|grep) [^`]+)`/g), ([, command = '']) => [
      number,
      command.replaceAll(String.raw`\|`, '|'),
    ]),
);

/** The functions of the terminal that the runbooks set up, at the end of the first block. */
const [, TERMINAL = ''] =
  /^```sh\n[^]*?^(ask\(\) \{\n[^`]*)^```$/m.exec(read('deploy/runbooks/README.md')) ?? [];

/** What an answer may leave empty: nothing has happened that it would list. */
const MAY_BE_EMPTY = /payments/;

class Observed extends Deployment {
  override readonly fate = undefined;

  constructor(
    override readonly apiUrl: string,
    override readonly operatorUrl: string,
  ) {
    super();
  }
}

it('docs/on-call.md has 22 questions, and commands for half of them', () => {
  expect(read('docs/on-call.md').match(/^\| \d+\. /gm)).toHaveLength(22);
  expect(new Set(COMMANDS.map(([number]) => number)).size).toBeGreaterThanOrEqual(9);
});

/** Each with the paths of its logs, for which it may write a file in the folder. */
const SHAPES = {
  'one process': async (folder: string) => {
    const { platform, ...harness } = await startObservedPlatform();
    const path = join(folder, 'logs.jsonl');
    const logs = async (): Promise<string> => {
      await writeFile(path, await platform.log());
      return path;
    };
    return { ...harness, logs };
  },
  'a cluster': async () => {
    const { logs, ...harness } = await startObservedCluster(troubledCatalog(), OPERATOR_TOKEN);
    return { ...harness, logs: () => Promise.resolve(logs) };
  },
};

describe.skipIf(!hasPrometheus).each(Object.entries(SHAPES))('docs/on-call.md with %s', (_name, start) => {
  let observed: Awaited<ReturnType<typeof start>>;
  let folder: string;
  let known: Readonly<Record<string, string>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-on-call-'));
    observed = await start(folder);
    const deployment = new Observed(observed.apiUrl, observed.operatorUrl);
    const { id, apiKey } = await deployment.account('1.00');
    const messages = [{ role: 'user', content: 'hi' }];
    const refused = await deployment.chat(apiKey, { model: 'missing', messages });
    await refused.text();
    const today = new Date().toISOString().slice(0, 10);
    known = { ID: refused.headers.get('x-request-id') ?? '', ACCOUNT: id, DAY: today };
  }, 240_000);

  afterAll(async () => {
    await observed.stop();
    await rm(folder, { recursive: true });
  });

  it.each(COMMANDS)('question %s is answered by %s', async (_number, command) => {
    const filled = command.replaceAll(/\b(ID|ACCOUNT|DAY)\b/g, (name) => known[name] ?? name);
    const svcctl = `svcctl() { "${process.execPath}" "${join(ROOT, 'tools/svcctl.mjs')}" "$@"; }`;
    const env = {
      PATH: process.env['PATH'],
      PROM: observed.prometheus.url,
      OPERATOR: new URL(observed.operatorUrl).origin,
      OPERATOR_URL: new URL(observed.operatorUrl).origin,
      SVC_OPERATOR_TOKEN: OPERATOR_TOKEN,
      SERIES: 'release="svc"',
      LOGS: await observed.logs(),
    };
    const script = ['set -eo pipefail', TERMINAL, svcctl, filled].join('\n');
    await expect
      .poll(async () => {
        const { stdout, stderr } = await run('bash', ['--norc', '-c', script], { env });
        return [stderr, stdout.trim() !== '' || MAY_BE_EMPTY.test(command)];
      })
      .toEqual(['', true]);
  });
});
