// Follows docs/rotation.md under load: reads from the page which processes to restart, with which values, and
// the server commands.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KINDS, type Kind, kinds, tokenVariableOf } from '@svc/cluster';
import { isNightly } from '@svc/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../database-server.js';
import { OPERATOR_TOKEN, type TestAccount } from '../deployment.js';
import { ClusterDeployment } from './cluster-deployment.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/rotation.md'), 'utf8');
const REPLICAS = { gateway: 2, router: 2, ledger: 2, limiter: 2, retrieval: 2, payments: 2 };
/** Every process is started four times in total, which takes minutes on a busy machine. */
const TIMEOUT = { timeout: 900_000 };
const CLIENTS = 4;
/** A kept connection may be closed at the moment of its next use, and clients would have to retry. */
const OWN_CONNECTION = { connection: 'close' };
/** Duration of the load between two restarts and after the last. */
const PAUSE_MS = 1_000;
const SERVICE_TOKENS = kinds.flatMap((kind) => tokenVariableOf(kind) ?? []);
const TOKENS = [...SERVICE_TOKENS, 'SVC_OPERATOR_TOKEN', 'SVC_METRICS_TOKEN'];
const METRICS_TOKEN = 'metrics-token-of-the-tests-of-rotation';
const INTERNAL_TOKEN = 'internal-token-of-all-services-at-first';

type Settings = Readonly<Record<string, string | undefined>>;

const newSecret = (): string => randomBytes(32).toString('hex');
const sectionOf = (title: string): string =>
  PAGE.split('\n## ').find((each) => each.startsWith(`${title}\n`)) ?? '';

/** The cells of the table rows in a text, without markup. */
const rowsOf = (text: string): string[][] =>
  Array.from(text.matchAll(/^\|(.+)\|$/gm), ([, row = '']) => row.split('|').map((cell) => cell.trim()));

/** The kinds of processes that read a setting, in the order of the page. */
function readersOf(setting: string): Kind[] {
  const row = rowsOf(PAGE).find(([name = '']) => name.includes(`\`${setting}\``)) ?? [];
  const apps = (row[2] ?? '').match(/[\w-]+/g) ?? [];
  return apps.flatMap((app) => kinds.filter((kind) => KINDS[kind].app === app));
}

/** The steps for tokens: the values of the setting and of its second in each step: `old`, `new` or empty. */
const tokenSteps = rowsOf(sectionOf('Tokens')).filter(([step = '']) => /^\d\./.test(step));

/** The steps that replace the token of all services, with its value in each step. */
const splitSteps = rowsOf(sectionOf('One token for all services')).filter(([step = '']) =>
  /^\d\./.test(step),
);

/** The settings of a step: the first and second values of these tokens. */
function settingsOf(
  [, first = '', second = '']: readonly string[],
  names: readonly string[],
  values: Readonly<Record<string, Settings>>,
): Settings {
  const settings = names.map((name) => ({
    [name]: values[first]?.[name],
    [`${name}_SECOND`]: values[second]?.[name],
  }));
  return Object.assign({}, ...settings) as Settings;
}

/** The server commands in a step of a section, with values substituted for its variables. */
function commandsOf(section: string, step: string, values: Readonly<Record<string, string>>): string[] {
  const part =
    sectionOf(section)
      .split(/^(?=\d\. )/m)
      .find((each) => each.includes(` ${step}`)) ?? '';
  const [, text = ''] = /<<(?:SQL|END)\n([^]*?)\n\s*(?:SQL|END)\n/.exec(part) ?? [];
  const lines = text.split('\n').map((line) => line.trim().replace(/;$/, ''));
  return lines.map((line) => line.replaceAll(/\$([A-Z]+)/g, (_, name: string) => values[name] ?? ''));
}

let platform: ClusterDeployment;
let account: TestAccount;
let env: Settings;
/** The tokens that clients of the operator's API and of metrics send. */
let sent = { operator: OPERATOR_TOKEN, metrics: METRICS_TOKEN };
/** All refusals of requests under load. */
const refusals: string[] = [];
let answered = 0;

const get = async (url: string, token = ''): Promise<number> => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...OWN_CONNECTION } });
  await response.arrayBuffer();
  return response.status;
};

/**
 * Restarts the processes that the page names, with these values: services in parallel, like Helm, and the
 * processes of each in turn.
 */
async function restart(settings: readonly string[], values: Settings): Promise<void> {
  env = { ...env, ...values };
  const readers = new Set(settings.flatMap(readersOf));
  expect(readers.size).toBeGreaterThan(0);
  await Promise.all(Array.from(readers, (kind) => platform.cluster.rollingRestart(kind, env)));
  await sleep(PAUSE_MS);
}

async function note(what: string, act: () => Promise<number | string>): Promise<void> {
  // Clients retry when a connection ends without a response. A response is final.
  const status = await act()
    .catch(act)
    .catch((error: Error) => `${error.message}: ${String(error.cause)}`);
  if (status === 200) answered += 1;
  else refusals.push(`${what}: ${status}`);
}

/** The status of a completion, with the response if it is a refusal. */
async function ask(at: number): Promise<number | string> {
  const stream = at % 2 === 0;
  const own = { headers: OWN_CONNECTION };
  const messages = [{ role: 'user', content: 'go on [[sim tokens=20 itl-ms=2]]' }];
  const response = await platform.chat(account.apiKey, { model: 'test-model', messages, stream }, own);
  const text = await response.text();
  if (response.status !== 200) return `${response.status} ${response.headers.get('x-request-id')} ${text}`;
  return stream && !text.includes('[DONE]') ? 'cut' : 200;
}

/** Runs clients and operators while `act` runs; returns the failures. */
async function faultsUnderLoad(act: () => Promise<void>): Promise<string[]> {
  const over = new AbortController();
  refusals.length = 0;
  answered = 0;
  const repeat = async (what: string, one: () => Promise<number | string>): Promise<void> => {
    while (!over.signal.aborted) {
      await note(what, one);
      await sleep(10);
    }
  };
  const load = [
    ...Array.from({ length: CLIENTS }, (_, at) => repeat('chat', () => ask(at))),
    repeat('operator', () => get(`${platform.operatorUrl}/accounts?limit=1`, sent.operator)),
    repeat('metrics', () => get(`${platform.cluster.operatorUrl}/metrics`, sent.metrics)),
  ];
  try {
    await act();
  } finally {
    over.abort();
    await Promise.all(load);
  }
  expect(answered).toBeGreaterThan(0);
  return Promise.all(refusals.slice(0, 10).map(withLog));
}

/** A refusal with what the processes logged of its request. */
async function withLog(refusal: string): Promise<string> {
  const id = /\b\d{3} (\S+) /.exec(refusal)?.[1];
  if (id === undefined) return refusal;
  const names = (await readdir(platform.folder, { recursive: true })).filter((name) => name.endsWith('.log'));
  const logs = await Promise.all(names.map((name) => readFile(join(platform.folder, name), 'utf8')));
  const lines = logs.flatMap((log) => log.split('\n').filter((line) => line.includes(id)));
  return [refusal, ...lines].join('\n');
}

beforeAll(async () => {
  platform = await ClusterDeployment.start(REPLICAS, {
    SVC_METRICS_TOKEN: METRICS_TOKEN,
    SVC_INTERNAL_TOKEN: INTERNAL_TOKEN,
  });
  env = platform.settings;
  account = await platform.account('100.00');
}, 240_000);
afterAll(async () => {
  await platform.stop();
}, 120_000);

/** The status of /metrics at one process of each service except the gateway, with one of these tokens. */
const statusesOf = (tokenOf: (kind: Kind) => string | undefined): Promise<number[]> =>
  Promise.all(
    (['limiter', 'router', 'ledger', 'retrieval', 'media', 'payments'] as const).map((kind) =>
      get(`http://127.0.0.1:${platform.cluster.replicas(kind)[0]?.port}/metrics`, tokenOf(kind)),
    ),
  );

describe('docs/rotation.md, followed under load', () => {
  it('has the steps and the processes that this test follows', () => {
    expect(tokenSteps.map((cells) => cells.slice(0, 3))).toEqual([
      ['1. Add', 'old', 'new'],
      ['2. Swap', 'new', 'old'],
      ['3. Remove', 'new', ''],
    ]);
    expect(splitSteps.map((cells) => cells.slice(0, 4))).toEqual([
      ['1. Add', 'old', 'new', 'old'],
      ['2. Swap', 'new', 'old', ''],
      ['3. Remove', 'new', '', ''],
    ]);
    expect(readersOf('SVC_INTERNAL_TOKEN')).toHaveLength(7);
    const owners = kinds.filter((kind) => tokenVariableOf(kind) !== undefined);
    for (const kind of owners) expect(readersOf(tokenVariableOf(kind) ?? '')).toContain(kind);
  });

  it(
    'fails no request while the token of all services is replaced by one for each, and it is refused afterwards',
    TIMEOUT,
    async () => {
      const old: Settings = Object.fromEntries(SERVICE_TOKENS.map((name) => [name, INTERNAL_TOKEN]));
      const changed: Settings = Object.fromEntries(SERVICE_TOKENS.map((name) => [name, newSecret()]));
      expect(await statusesOf(() => INTERNAL_TOKEN)).toEqual(Array.from({ length: 6 }, () => 200));
      const faults = await faultsUnderLoad(async () => {
        for (const step of splitSteps) {
          const shared = step[3] === 'old' ? INTERNAL_TOKEN : undefined;
          const settings = settingsOf(step, SERVICE_TOKENS, { old, new: changed });
          await restart(['SVC_INTERNAL_TOKEN'], { ...settings, SVC_INTERNAL_TOKEN: shared });
        }
      });
      expect(faults).toEqual([]);
      expect(await statusesOf(() => INTERNAL_TOKEN)).toEqual(Array.from({ length: 6 }, () => 401));
      expect(await statusesOf((kind) => changed[tokenVariableOf(kind) ?? ''])).toEqual(
        Array.from({ length: 6 }, () => 200),
      );
    },
  );

  it.runIf(isNightly)(
    'fails no request while all tokens are changed, and the old ones are refused afterwards',
    TIMEOUT,
    async () => {
      const old: Settings = Object.fromEntries(TOKENS.map((name) => [name, env[name]]));
      const changed: Settings = Object.fromEntries(TOKENS.map((name) => [name, newSecret()]));
      const values: Readonly<Record<string, Settings>> = { old, new: changed };
      const faults = await faultsUnderLoad(async () => {
        for (const step of tokenSteps) {
          await restart(TOKENS, settingsOf(step, TOKENS, values));
          sent = {
            operator: changed['SVC_OPERATOR_TOKEN'] ?? '',
            metrics: changed['SVC_METRICS_TOKEN'] ?? '',
          };
        }
      });
      expect(faults).toEqual([]);
      const accounts = `${platform.operatorUrl}/accounts?limit=1`;
      for (const [expected, tokens] of [
        [200, changed],
        [401, old],
      ] as const) {
        expect(await get(accounts, tokens['SVC_OPERATOR_TOKEN'])).toBe(expected);
        const statuses = [
          ...(await statusesOf(() => tokens['SVC_METRICS_TOKEN'])),
          ...(await statusesOf((kind) => tokens[tokenVariableOf(kind) ?? ''])),
        ];
        expect(statuses).toEqual(statuses.map(() => expected));
      }
    },
  );

  it('fails no request while the PostgreSQL password is changed', TIMEOUT, async () => {
    const before = new URL(env['DATABASE_URL'] ?? '');
    const NEW = newSecret();
    const after = Object.assign(new URL(before), { username: 'svc_b', password: NEW });
    const runStep = (url: URL, step: string): Promise<void> =>
      withClient(String(url), async (client) => {
        const commands = commandsOf('PostgreSQL', step, { NEW });
        expect(commands).not.toEqual(['']);
        for (const command of commands)
          await client.query(command.replaceAll(/\bsvc\b(?!_)/g, `"${before.username}"`));
      });
    const faults = await faultsUnderLoad(async () => {
      await runStep(before, 'Add.');
      await restart(['DATABASE_URL'], { DATABASE_URL: String(after) });
      await runStep(after, 'Remove,');
      await sleep(PAUSE_MS);
    });
    expect(faults).toEqual([]);
    await expect(withClient(String(before), () => Promise.resolve())).rejects.toThrow(
      /authentication failed/,
    );
    expect(await get(`${platform.operatorUrl}/ledger/audit`, sent.operator)).toBe(200);
  });

  it('fails no request while the Redis password is changed', TIMEOUT, async () => {
    const before = new URL(env['REDIS_URL'] ?? '');
    const NEW = newSecret();
    const after = Object.assign(new URL(before), { password: NEW });
    const values = { NEW, OLD: before.password };
    const runStep = async (url: URL, step: string): Promise<void> => {
      const redis = new Redis(String(url), { maxRetriesPerRequest: 1, retryStrategy: () => null });
      for (const command of commandsOf('Redis', step, values)) {
        const [name = '', ...args] = command.split(' ');
        expect(await redis.call(name, ...args)).toBe('OK');
      }
      await redis.quit();
    };
    const faults = await faultsUnderLoad(async () => {
      await runStep(before, 'Add:');
      await restart(['REDIS_URL'], { REDIS_URL: String(after) });
      await runStep(after, 'Remove:');
      await sleep(PAUSE_MS);
    });
    expect(faults).toEqual([]);
    await expect(runStep(before, 'Add:')).rejects.toThrow(/WRONGPASS|closed/);
  });
});
