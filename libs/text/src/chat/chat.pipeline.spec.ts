import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import { ChatRequest } from '@svc/api/chat';
import { NO_USAGE } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { JsonText, type RequestRecord } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import type { Ending } from '../output/output-relay.js';
import { ChatPipeline } from './chat.pipeline.js';
import type { ChatExchange } from './exchange.js';

const model = {
  id: 'm',
  name: 'M',
  tier: 'XS',
  contextTokens: 1_000,
  maxCompletionTokens: 100,
  pricing: { input: 1, output: 1 },
  backends: [{ url: 'http://127.0.0.1:9', model: 'm' }],
};
const tiers = { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };
const catalog = new Catalog(CatalogFile.parse({ models: [model], tiers }));

const caller: Caller = {
  accountId: 'a',
  keyId: 'k',
  tier: 'standard',
  paid: true,
  keyType: 'INFERENCE',
  modelPrivacy: 'ALL',
};

interface Steps {
  readonly prepare?: () => Promise<never>;
  readonly ending?: Ending;
  readonly settle?: () => Promise<never>;
}

/** The log line of a request whose client has disconnected. Steps succeed unless replaced. */
async function loggedEnd(steps: Steps): Promise<{ ended?: string; problem?: string; released: number }> {
  let released = 0;
  const reservation = {
    heldNano: 1_000_000_000n,
    settle: steps.settle ?? (async () => ({ cost: { usdNano: 1n, diemNano: 0n }, headers: {} })),
    cancel: async () => ({}),
    release: async () => void (released += 1),
  };
  const prompts = {
    find: async () => undefined,
    prepare: steps.prepare ?? (async () => ({ tokens: 1 })),
  };
  const relay = { backend: 'b', normaliser: {} };
  const inference = {
    complete: async (_: unknown, prepared: unknown) => ({
      prepared,
      relay,
      ending: steps.ending ?? { kind: 'client_gone' },
    }),
    usage: async () => ({ ...NO_USAGE, promptTokens: 1, completionTokens: 1 }),
  };
  const record: RequestRecord = { startedMs: 0 };
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const exchange = {
    requestId: 'r',
    caller,
    chat: ChatRequest.parse(body),
    json: new JsonText(JSON.stringify(body)),
    record,
    client: { headers: {}, isGone: true, isStreaming: false, signal: AbortSignal.abort() },
  } as unknown as ChatExchange;
  await new ChatPipeline(
    catalog,
    { config: { GATEWAY_TRANCHE_TOKENS: 64 } } as never,
    { begin: async () => ({ headers: {}, reservation }) } as never,
    prompts as never,
    inference as never,
    { after: async (_: unknown, given: unknown) => given } as never,
  ).complete(exchange);
  return {
    released,
    ...(record.ended !== undefined && { ended: record.ended }),
    ...(record.problem && { problem: record.problem.code }),
  };
}

describe('a failure after the client has disconnected', () => {
  it('is logged, whichever step fails', async () => {
    const failed = { ended: 'client_gone', released: 1 };
    const fail = (error: Error) => (): Promise<never> => Promise.reject(error);
    expect(await loggedEnd({ prepare: fail(new TypeError('the code is wrong')) })).toEqual({
      ...failed,
      problem: 'UNKNOWN_ERROR',
    });
    const problem = new Problem('INFERENCE_FAILED');
    expect(await loggedEnd({ ending: { kind: 'client_gone', problem } })).toEqual({
      ...failed,
      problem: 'INFERENCE_FAILED',
    });
    expect(await loggedEnd({ settle: fail(new Problem('UNAVAILABLE')) })).toEqual({
      ...failed,
      problem: 'UNAVAILABLE',
    });
  });

  it('is not logged if the disconnect itself caused it', async () => {
    const abort = new DOMException('This operation was aborted', 'AbortError');
    expect(await loggedEnd({ prepare: () => Promise.reject(abort) })).toEqual({
      ended: 'client_gone',
      released: 1,
    });
    expect(await loggedEnd({})).toEqual({ ended: 'client_gone', released: 1 });
  });
});
