import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunningProcess, isNightly } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { type Payer, askAs, faultsLeft, openChangedPayer, openPayer, openPayers } from '../payers.js';
import { MAIN } from '../own-env.js';
import { TEST_MODEL } from '../platform.js';
import { Random } from '../random.js';
import { ClusterDeployment } from './cluster-deployment.js';
import { nanoOf } from '../reconciliation.js';
import { Load } from './load.js';
import { OpenStreams } from './open-streams.js';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CLIENTS = 8;
const REPLICAS = { gateway: 2, router: 2, ledger: 2, limiter: 2 };
const SERVICES = ['gateway', 'router', 'ledger', 'limiter'] as const;
const PAUSE_MS = 20_000;
const KEY_CACHE_MS = '5000';
/** Open streams of each gateway. */
const STREAMS = 6;
const MONEY_CODES = new Set(['INSUFFICIENT_BALANCE', 'API_KEY_USD_SPEND_LIMIT_EXCEEDED']);
const LOST_SHARE = 0.02;
/** The gateway's estimate for output that its backend has not counted. */
const BYTES_PER_TOKEN = 3.2;
const TIMEOUT = { timeout: 300_000 };

let platform: ClusterDeployment;
let payers: [Payer, ...Payer[]];
/** A payer for each open stream, since the streams of an account run through the same router. */
let streaming: Payer[];
let incidents = 0;

beforeAll(async () => {
  platform = await ClusterDeployment.start(REPLICAS, { GATEWAY_KEY_CACHE_MS: KEY_CACHE_MS });
  payers = await openPayers(platform);
  const wanted = { creditUsd: '5.00', stakes: false, keys: 1 };
  streaming = await Promise.all(
    Array.from({ length: REPLICAS.gateway * STREAMS }, () => openPayer(platform, wanted)),
  );
  await Promise.all([...payers, ...streaming].map(({ reconciliation }) => reconciliation.askAgain()));
}, 180_000);
afterAll(async () => {
  await platform.stop();
}, 120_000);

interface Incident {
  readonly act: () => Promise<void>;
  /** Its duration, so that streams outlive it; default: 5 s. */
  readonly ms?: number;
  /** The gateway whose streams may be cut. */
  readonly cutsGateway?: number;
  /** The maximum number of other streams that may be cut. */
  readonly cuts?: number;
  /** Processes that may exit by themselves. */
  readonly ends?: readonly string[];
  /** Whether requests may be refused for reasons other than money; default: they may. */
  readonly refuses?: boolean;
  /** Whether it may leave holds that expire after a minute; default: it may not. */
  readonly mayHold?: boolean;
}

const seen = (): number => payers.reduce((sum, { reconciliation }) => sum + reconciliation.ended.size, 0);

/** Runs an incident under load, and checks what clients saw and what it left behind. */
async function faultsOf({
  act,
  ms = 5_000,
  cutsGateway,
  cuts = 0,
  ends = [],
  refuses = true,
  mayHold = false,
}: Incident): Promise<string[]> {
  const name = `incident-${(incidents += 1)}`;
  const load = new Load(platform, payers, { random: new Random(SEED + incidents), clients: CLIENTS, name });
  const faults: string[] = [];
  const before = seen();
  try {
    await eventually('the load is one', () => seen() > before + 2 * CLIENTS);
    const wanted = { itlMs: 50, tokens: Math.ceil((ms + 3_000) / 50) };
    const streams = await Promise.all(
      platform.gatewayUrls.map((to, at) => {
        const ofGateway = streaming.slice(at * STREAMS, (at + 1) * STREAMS);
        return OpenStreams.open(platform, ofGateway, { to, ...wanted });
      }),
    );
    await act();
    await platform.cluster.ready();
    const after = seen();
    await eventually('requests are answered again', () => seen() > after + 2 * CLIENTS);
    const ended = await Promise.all(streams.map((each) => each.ended()));
    const cut = ended.flatMap((of, at) => (at === cutsGateway ? [] : of.filter((end) => end !== 'whole')));
    if (cut.length > cuts) faults.push(`${cut.length} streams were cut: ${cut.join(' | ')}`);
  } finally {
    await load.end();
  }
  faults.push(...load.hung.map((kind) => `a ${kind} hung`));
  for (const [code, times] of load.refusals) {
    // A request on a connection that is being closed is lost, as always in HTTP.
    const most = code === 'none' ? (seen() - before) * LOST_SHARE : 0;
    if (!refuses && !MONEY_CODES.has(code) && times > most) faults.push(`${times} times ${code}`);
  }
  const unexpected = platform.takeEnds().filter((line) => !ends.some((end) => line.startsWith(end)));
  return [...faults, ...unexpected, ...(await faultsLeft(platform, [...payers, ...streaming], { mayHold }))];
}

/** Sends each key to each gateway, free of charge, and expects all to be accepted. */
async function knowKeys(known: readonly Payer[]): Promise<void> {
  for (const to of platform.gatewayUrls) {
    for (const apiKey of known.flatMap(({ apiKeys }) => apiKeys)) {
      const response = await fetch(`${to}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
      await response.text();
      expect(response.status).toBe(200);
    }
  }
}

/**
 * Waits until the ledger can hold money of the payers without the database: their limited keys are in use
 * and their stakes set.
 */
async function knowPayers(): Promise<void> {
  for (const { reconciliation, apiKeys, stakes, keyLimitUsd } of payers) {
    const { accountId, spentByKey } = reconciliation;
    const isSet = async (): Promise<boolean> =>
      (await platform.operator('PUT', `/accounts/${accountId}/stake`, { tokens: 0.001 })).status === 200;
    if (stakes) await eventually('the stake is set', isSet);
    const limitedKey = apiKeys.at(-1) ?? '';
    if (keyLimitUsd !== undefined)
      await eventually('a limited key is in use', () => spentByKey.has(limitedKey));
  }
}

const replica = (kind: (typeof SERVICES)[number]) => {
  const [first] = platform.cluster.replicas(kind);
  if (!first) throw new Error('there are two');
  return first;
};

/** Checks the open streams when one of two processes is killed: streams that do not run through it finish. */
const killed = {
  gateway: { cutsGateway: 0 },
  // Of that number of accounts, some use the other one.
  router: { cuts: REPLICAS.gateway * STREAMS - 1 },
  ledger: {},
  limiter: {},
};

describe(`a cluster under load charges each finished response once and to the nano-dollar, lets no request hang and leaves nothing held (SEED=${SEED})`, () => {
  // Holds left by the first tests expire during the others.
  it.each(SERVICES)('when a %s is killed with kill -9', TIMEOUT, async (kind) => {
    const act = async (): Promise<void> => {
      replica(kind).signal('SIGKILL');
      await sleep(1_000);
      await replica(kind).ready();
    };
    expect(await faultsOf({ act, ends: [replica(kind).name], mayHold: true, ...killed[kind] })).toEqual([]);
  });

  it.each(isNightly ? SERVICES : (['ledger'] as const))('when a %s hangs for 20 s', TIMEOUT, async (kind) => {
    const act = async (): Promise<void> => {
      replica(kind).signal('SIGSTOP');
      await sleep(PAUSE_MS);
      replica(kind).signal('SIGCONT');
    };
    expect(await faultsOf({ act, ms: PAUSE_MS, mayHold: true })).toEqual([]);
  });

  it.runIf(isNightly).each(['redis', 'kafka'] as const)('when %s hangs for 20 s', TIMEOUT, async (name) => {
    const act = async (): Promise<void> => {
      await platform.infra[name].pause();
      await sleep(PAUSE_MS);
      await platform.infra[name].resume();
    };
    expect(await faultsOf({ act, ms: PAUSE_MS, mayHold: true })).toEqual([]);
  });

  it(
    'when PostgreSQL hangs for 40 s, far longer than keys are cached, and no request is refused',
    TIMEOUT,
    async () => {
      let ready: boolean[] = [];
      const act = async (): Promise<void> => {
        await knowPayers();
        const changed = await openChangedPayer(platform);
        await knowKeys([...payers, changed]);
        await platform.infra.postgres.pause();
        const endMs = performance.now() + 2 * PAUSE_MS;
        try {
          while (performance.now() < endMs) {
            await knowKeys([...payers, changed]);
            for (const apiKey of changed.apiKeys) expect((await askAs(platform, apiKey)).status).toBe(200);
          }
        } finally {
          ready = platform.cluster.replicas('gateway').map(({ isReady }) => isReady);
          await platform.infra.postgres.resume();
        }
        expect(ready).toEqual([true, true]);
      };
      expect(await faultsOf({ act, ms: 2 * PAUSE_MS, refuses: false })).toEqual([]);
    },
  );

  it.each(['kafka', 'redis', 'postgres'] as const)(
    'when %s is killed with kill -9',
    TIMEOUT,
    async (name) => {
      const act = async (): Promise<void> => {
        await platform.infra[name].kill();
        await sleep(2_000);
        await platform.infra[name].start();
      };
      expect(await faultsOf({ act, ms: 10_000 })).toEqual([]);
    },
  );

  it('when every service is restarted, one after the other, without a failed request', TIMEOUT, async () => {
    const act = async (): Promise<void> => {
      for (const kind of SERVICES) await platform.cluster.rollingRestart(kind);
    };
    expect(await faultsOf({ act, refuses: false })).toEqual([]);
  });

  it('and prevents the start of a process that keeps balances in its memory', TIMEOUT, async () => {
    const env = { ...platform.servers, SVC_DATA_DIR: platform.folder, PORT: '0', OPERATOR_PORT: '0' };
    const second = RunningProcess.spawn({ main: MAIN, env });
    expect(await second.ended()).toBe(1);
    expect(second.output).toMatch(/is in use by a running instance or by the ledgers of a running cluster/);
  });
});

describe('a router that fails during responses', () => {
  afterEach(async () => {
    await platform.cluster.ready();
    platform.takeEnds();
  });

  const chat = (apiKey: string, settings: string, stream: boolean): Promise<Response> => {
    const messages = [{ role: 'user', content: `go on [[sim ${settings}]]` }];
    return platform.chat(
      apiKey,
      { model: TEST_MODEL.id, messages, stream },
      { signal: AbortSignal.timeout(60_000) },
    );
  };

  /** The charge of each request, in nano-dollars, once this number of charges is posted. */
  async function charges(accountId: string, count: number): Promise<Map<string, number>> {
    await eventually('all charges are posted', async () => (await posted(accountId)).size >= count);
    return posted(accountId);
  }

  async function posted(accountId: string): Promise<Map<string, number>> {
    const { body } = await platform.operator('GET', `/accounts/${accountId}/transfers?limit=1000`);
    const transfers = body['data'] as { kind: string; reference: string; amount: string }[];
    const charged = transfers.filter(({ kind }) => kind === 'charge');
    return new Map(charged.map(({ reference, amount }) => [reference, nanoOf(amount)]));
  }

  it(
    'ends each stream that it cuts with an error event, and the delivered output is charged',
    TIMEOUT,
    async () => {
      const { id, apiKey } = await platform.account();
      const settings = 'tokens=400 itl-ms=50';
      const responses = await Promise.all(Array.from({ length: 8 }, () => chat(apiKey, settings, true)));
      const answers = Promise.all(responses.map(chunksOf));
      const gathered = chat(apiKey, settings, false);
      await sleep(3_000);
      for (const each of platform.cluster.replicas('router')) each.signal('SIGKILL');
      const charged = await answers.then((all) => charges(id, all.length));
      const prompts = (await answers).map(({ chunks, text, done }, at) => {
        expect(done).toBe(true);
        expect(chunks.at(-1)).toEqual({
          error: { message: expect.any(String), type: 'api_error', param: null, code: 'INFERENCE_FAILED' },
        });
        expect(text).not.toBe('');
        const tokens = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
        const outputNano = Math.round(tokens * TEST_MODEL.pricing.output * 1_000);
        return (charged.get(responses[at]?.headers.get('x-request-id') ?? '') ?? 0) - outputNano;
      });
      // The rest is the price of the prompt, which is the same for all of them.
      expect(prompts[0]).toBeGreaterThan(0);
      expect(prompts).toEqual(prompts.map(() => prompts[0]));
      const { status, headers } = await gathered;
      expect(status).toBeGreaterThanOrEqual(500);
      expect(charged.has(headers.get('x-request-id') ?? '')).toBe(false);
      platform.takeEnds();
      await platform.cluster.ready();
    },
  );

  it('delays no request for the whole time that it hangs', TIMEOUT, async () => {
    const { id, apiKey } = await platform.account();
    const [hung] = platform.cluster.replicas('router');
    const waiting = Array.from({ length: 8 }, (_, at) => chat(apiKey, 'tokens=2 ttft-ms=500', at % 2 === 0));
    hung?.signal('SIGSTOP');
    try {
      const later = Array.from({ length: 40 }, (_, at) => chat(apiKey, 'tokens=2', at % 2 === 0));
      const responses = await Promise.all([...waiting, ...later]);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      for (const response of responses) await response.text();
      expect((await charges(id, responses.length)).size).toBe(responses.length);
    } finally {
      hung?.signal('SIGCONT');
    }
  });
});
