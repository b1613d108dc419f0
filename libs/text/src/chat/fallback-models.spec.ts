import { createECDH } from 'node:crypto';
import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { Caller } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { ChatRequest } from '@svc/api/chat';
import { JsonText } from '@svc/runtime';
import { scrapedMetrics } from '@svc/telemetry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planChat } from '../request/chat-plan.js';
import { chatOperation, holdSizes } from './chat-hold.js';
import type { ChatExchange } from './exchange.js';
import { FallbackModels } from './fallback-models.js';

const TRANCHE_TOKENS = 256;

const model = {
  name: 'M',
  tier: 'XS',
  contextTokens: 100_000,
  maxCompletionTokens: 1_000,
  pricing: { input: 1, output: 20 },
  backends: [{ url: 'http://127.0.0.1:9', model: 'm' }],
};
const enclave = {
  ...model,
  capabilities: { supportsE2EE: true, supportsTeeAttestation: true },
  backends: [{ kind: 'vllm-proxy', url: 'http://127.0.0.1:9', model: 'm', tee: {} }],
};
const tiers = { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };
const models = [
  { ...model, id: 'plain' },
  { ...model, id: 'dear', pricing: { input: 7, output: 3 }, maxCompletionTokens: 90_000 },
  { ...model, id: 'wordy', pricing: { input: 0.5, output: 90 }, maxCompletionTokens: 10 },
  { ...model, id: 'small', contextTokens: 500, maxCompletionTokens: 100 },
  { ...model, id: 'off', offline: true },
  { ...enclave, id: 'enclave' },
  { ...enclave, id: 'other-enclave' },
];
const catalog = new Catalog(CatalogFile.parse({ models, tiers }));

const caller: Caller = {
  accountId: 'a',
  keyId: 'k',
  tier: 'standard',
  paid: true,
  keyType: 'INFERENCE',
  modelPrivacy: 'ALL',
};

const newKey = (): string => createECDH('secp256k1').generateKeys('hex');
const ENCRYPTION = {
  'X-SVC-TEE-Client-Pub-Key': newKey(),
  'X-SVC-TEE-Model-Pub-Key': newKey(),
  'X-SVC-TEE-Signing-Algo': 'ecdsa',
};

function chosenFor(exchange: ChatExchange): FallbackModels {
  const chosen = FallbackModels.of(exchange, catalog, TRANCHE_TOKENS);
  if (!chosen) throw new Error('the request names models to fall back to');
  return chosen;
}

function exchangeOf(body: object, more: Partial<ChatExchange> = {}): ChatExchange {
  const client = { headers: {}, signal: new AbortController().signal };
  return {
    requestId: 'r',
    caller,
    chat: ChatRequest.parse(body),
    json: new JsonText(JSON.stringify(body)),
    client,
    record: {},
    ...more,
  } as unknown as ChatExchange;
}

const HI = { role: 'user', content: 'hi' };

describe('a request that names no models', () => {
  it('has nothing of this', () => {
    for (const body of [{}, { models: null }, { fallbacks: null }])
      expect(
        FallbackModels.of(exchangeOf({ model: 'plain', messages: [HI], ...body }), catalog, TRANCHE_TOKENS),
      ).toBeUndefined();
  });
});

describe('the operation of a request with models to fall back to', () => {
  it('is that of the first, with the hold of the dearest', () => {
    const names = fc.uniqueArray(fc.constantFrom('plain', 'dear', 'wordy', 'small'), { minLength: 1 });
    const rest = {
      stream: fc.boolean(),
      max_tokens: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
      messages: fc.string({ maxLength: 300 }).map((content) => [{ ...HI, content: `${content}.` }]),
    };
    const property = fc.property(names, fc.record(rest), ([first = 'plain', ...others], body) => {
      const chosen = chosenFor(exchangeOf({ ...body, model: first, models: others }));
      const operations = [first, ...others].map((name) => {
        const plan = planChat(
          ChatRequest.parse({ ...body, model: name }),
          exchangeOf({ ...body, model: name }),
          catalog,
        );
        return chatOperation(plan, holdSizes(plan, TRANCHE_TOKENS));
      });
      const most = (amounts: bigint[]): bigint => amounts.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n;
      const { hold, amounts, sale } = chosen.operation;
      expect(sale.name).toBe(first);
      expect(amounts).toEqual(operations[0]?.amounts);
      expect(hold.atLeastNano).toBe(operations[0]?.hold.atLeastNano);
      expect(hold.amountNano).toBe(most(operations.map(({ hold: each }) => each.amountNano)));
      expect(hold.preferredNano ?? 0n).toBe(
        most(operations.map(({ hold: each }) => each.preferredNano ?? 0n)),
      );
    });
    fc.assert(property);
  });
});

describe('an encrypted request', () => {
  const body = {
    model: 'enclave',
    stream: true,
    messages: [{ role: 'user', content: `04${'5a'.repeat(100)}` }],
  };

  it('is refused if it names models to fall back to', () => {
    for (const more of [{ models: ['other-enclave'] }, { fallbacks: [{ model: 'other-enclave' }] }]) {
      const exchange = exchangeOf({ ...body, ...more }, { encryption: ENCRYPTION });
      expect(() => chosenFor(exchange)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', param: Object.keys(more)[0] }) as Error,
      );
    }
  });

  it('has no model but its own, whatever the defaults of its key', async () => {
    const withDefaults = { ...caller, fallbacks: { models: ['other-enclave', 'plain'], on: [] } };
    const exchange = exchangeOf(body, { encryption: ENCRYPTION, caller: withDefaults });
    const others = chosenFor(exchange);
    const error = new Problem('MODEL_AT_CAPACITY');
    const failed = { plan: others.first, error, reservation: {} as never };
    await expect(others.after(failed, {} as never)).rejects.toBe(error);
  });
});

describe('the next model', () => {
  const chosen = (body: object, client: object = {}) =>
    chosenFor(
      exchangeOf(
        { model: 'plain', messages: [HI], ...body },
        { client: { headers: {}, signal: new AbortController().signal, ...client } as never },
      ),
    );
  const paid = { move: async () => ({}) } as never;
  const afterError = async (others: FallbackModels, error: unknown): Promise<string> =>
    (await others.after({ plan: others.first, error, reservation: {} as never }, paid)).model.id;

  it('is not tried once a model has begun to respond, or its client has left', async () => {
    const error = new Problem('INFERENCE_FAILED');
    const begun = chosen({ models: ['dear'] });
    begun.begun(begun.first, { backend: 'b', retries: 0 });
    await expect(afterError(begun, error)).rejects.toBe(error);
    await expect(
      afterError(chosen({ models: ['dear'] }, { signal: AbortSignal.abort() }), error),
    ).rejects.toBe(error);
  });

  it('has a larger context if the prompt was too long', async () => {
    const error = new Problem('TOO_MANY_TOKENS');
    const on = { fallback_on: ['context_length_exceeded'] };
    await expect(afterError(chosen({ models: ['dear', 'small'], ...on }), error)).rejects.toBe(error);
    expect(await afterError(chosen({ model: 'small', models: ['dear'], ...on }), error)).toBe('dear');
  });

  it('is tried for no error of the service itself', async () => {
    for (const error of [new Problem('UNAVAILABLE'), new Problem('INSUFFICIENT_BALANCE'), new TypeError('x')])
      await expect(afterError(chosen({ models: ['dear'] }), error)).rejects.toBe(error);
  });
});

it.each([
  ['plain', 'dear', 1],
  ['off', 'dear', 1],
  ['plain', 'plain', 0],
])('a completion for %s by %s counts %d times as one by another model', (requested, served, times) => {
  const line = `svc_gateway_fallbacks_total{gen_ai_request_model="${requested}",gen_ai_response_model="${served}"} `;
  const counted = (): number => Number(scrapedMetrics().text.split(line)[1]?.split('\n')[0] ?? 0);
  const before = counted();
  const exchange = exchangeOf({ model: requested, models: ['dear'], messages: [HI] });
  const plan = planChat(ChatRequest.parse({ ...exchange.chat, model: served }), exchange, catalog);
  chosenFor(exchange).begun(plan, { backend: 'b', retries: 0 });
  expect(counted() - before).toBe(times);
});
