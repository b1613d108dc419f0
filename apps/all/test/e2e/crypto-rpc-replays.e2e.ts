import { randomUUID } from 'node:crypto';
import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import {
  type Posting,
  countOn,
  creditsOf,
  passedOn,
  postRpc,
  rpcPayer,
  sending,
  signedTransfer,
} from '../rpc-payer.js';
import { ScriptedNode, echo } from '../scripted-node.js';

let chain: LocalChain;
let node: ScriptedNode;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  [chain, node] = await Promise.all([LocalChain.start(), ScriptedNode.start()]);
  platform = await Platform.start({
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 100_000, creditsPerMinute: 100_000_000 } },
      networks: {
        scripted: { family: 'evm', nodes: [{ url: node.url }] },
        base: { family: 'evm', nodes: [{ url: chain.url }] },
      },
    },
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await Promise.all([platform.stop(), chain.stop(), node.stop()]);
});
beforeEach(() => {
  node.answer = echo;
  node.sent.length = 0;
});

const post = (network: string, body: unknown, posting: Posting = {}): Promise<Response> =>
  postRpc(platform, { network, by: account, ...posting }, body);

describe('a request with an Idempotency-Key', () => {
  it('gets its first response again, free of charge, also from another gateway', async () => {
    const { raw, hash } = await signedTransfer(chain);
    const own = await rpcPayer(platform);
    const key = randomUUID();
    node.answer = ([call]) => passedOn(chain, call);
    const first = await post('scripted', sending(raw), { by: own, key });
    expect(await first.json()).toMatchObject({ result: hash });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    for (const to of platform.gatewayUrls) {
      const again = await post('scripted', sending(raw), { by: own, key, to });
      expect(await again.json()).toEqual({ jsonrpc: '2.0', id: 1, result: hash });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(creditsOf(again)).toBe(0);
    }
    expect(node.sent).toHaveLength(1);
    await eventually('it is charged', async () => (await own.charged()) === 20);
  });

  it('is refused with another body, another network or an invalid key', async () => {
    const key = randomUUID();
    const call = { id: 1, method: 'eth_syncing' };
    expect((await post('scripted', call, { key })).status).toBe(200);
    for (const response of [
      await post('scripted', { ...call, id: 2 }, { key }),
      await post('base', call, { key }),
    ])
      expect([response.status, (await errorOf(response)).error.code]).toEqual([
        400,
        'IDEMPOTENCY_KEY_REUSED',
      ]);
    const invalid = await post('scripted', call, { key: 'é' });
    expect([invalid.status, (await errorOf(invalid)).error.code]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('has a key of its own for each account', async () => {
    const key = randomUUID();
    const call = { id: 1, method: 'eth_syncing' };
    for (const by of [await rpcPayer(platform), await rpcPayer(platform)])
      expect(creditsOf(await post('scripted', call, { by, key }))).toBe(20);
  });

  it('that cannot be paid or answered leaves its key free', async () => {
    const key = randomUUID();
    const poor = await platform.account('0.00001');
    const call = { id: 1, method: 'eth_syncing' };
    expect((await post('scripted', call, { by: poor, key })).status).toBe(402);
    node.answer = () => ({ status: 500, body: '' });
    expect((await post('scripted', call, { key })).status).toBe(503);
    node.answer = echo;
    expect((await post('scripted', call, { key })).status).toBe(200);
  });

  it('is sent once by 50 concurrent requests over all gateways; the others get 409 with Retry-After', async () => {
    const { raw, hash, from } = await signedTransfer(chain);
    const own = await rpcPayer(platform);
    const key = randomUUID();
    node.answer = ([call]) => passedOn(chain, call);
    const urls = platform.gatewayUrls;
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        post('scripted', sending(raw), { by: own, key, to: urls[at % urls.length] ?? platform.apiUrl }),
      ),
    );
    const outcomes = await Promise.all(
      responses.map(async (response) => ({
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        body: await response.json(),
      })),
    );
    const sent = { status: 200, retryAfter: null, body: { jsonrpc: '2.0', id: 1, result: hash } };
    const code = 'REQUEST_IN_PROGRESS';
    const busy = { status: 409, retryAfter: '1', body: expect.objectContaining({ code }) as unknown };
    for (const outcome of outcomes) expect(outcome).toEqual(outcome.status === 200 ? sent : busy);
    expect(responses.some(({ status }) => status === 200)).toBe(true);
    expect(node.sent).toHaveLength(1);
    expect(await countOn(chain, from)).toBe(1);
    await eventually('it is charged once', async () => (await own.charged()) === 20);
  });

  it('keeps the response of a notification, and only the fact of a too large one', async () => {
    const key = randomUUID();
    expect((await post('scripted', { method: 'eth_syncing' }, { key })).status).toBe(204);
    expect((await post('scripted', { method: 'eth_syncing' }, { key })).status).toBe(204);
    expect(node.sent).toHaveLength(1);
    const large = randomUUID();
    node.answer = () => ({ body: JSON.stringify({ id: 0, result: 'a'.repeat(1_048_576) }) });
    const call = { id: 1, method: 'eth_getLogs' };
    expect(creditsOf(await post('scripted', call, { key: large }))).toBe(20);
    const again = await post('scripted', call, { key: large });
    expect([again.status, (await errorOf(again)).code]).toEqual([409, 'REQUEST_ALREADY_MADE']);
    expect(node.sent).toHaveLength(2);
  });
});
