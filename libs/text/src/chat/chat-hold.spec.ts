import { createECDH } from 'node:crypto';
import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import { ChatRequest } from '@svc/api/chat';
import { JsonText } from '@svc/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatPlan, planChat } from '../request/chat-plan.js';
import { chatOperation, holdSizes } from './chat-hold.js';

const TRANCHE_TOKENS = 256;

const model = {
  id: 'm',
  name: 'M',
  tier: 'XS',
  contextTokens: 100_000,
  maxCompletionTokens: 1_000,
  pricing: { input: 1, output: 20, cacheInput: 0.5 },
  capabilities: { supportsE2EE: true, supportsTeeAttestation: true },
  backends: [{ kind: 'vllm-proxy', url: 'http://127.0.0.1:9', model: 'm', tee: {} }],
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

function newKey(): string {
  const pair = createECDH('secp256k1');
  return pair.generateKeys('hex');
}

const ENCRYPTION = {
  'X-SVC-TEE-Client-Pub-Key': newKey(),
  'X-SVC-TEE-Model-Pub-Key': newKey(),
  'X-SVC-TEE-Signing-Algo': 'ecdsa',
};

function planOf(body: object, encryption?: typeof ENCRYPTION): ChatPlan {
  const json = new JsonText(JSON.stringify(body));
  return planChat(ChatRequest.parse(body), { json, caller, encryption }, catalog);
}

/** A text of the size that the ciphertext of another has. */
const sealed = (text: string): string =>
  text === '' ? '' : `04${'5a'.repeat(92 + Buffer.byteLength(text))}`;

const texts = fc.string({ unit: 'grapheme', maxLength: 2_000 });
const messages = fc.array(
  fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'user'), content: texts }),
    fc.record({ role: fc.constant('assistant'), content: texts, reasoning_content: texts }),
  ),
  { minLength: 1, maxLength: 6 },
);

describe('what an encrypted completion holds and counts against limits', () => {
  it('is what the same completion holds and counts in plaintext, for texts of every size', () => {
    const options = fc.record({ max_tokens: fc.integer({ min: 1, max: 2_000 }), n: fc.constantFrom(1, 3) });
    fc.assert(
      fc.property(messages, options, (plain, rest) => {
        const bodyOf = (list: object[]): object => ({ model: 'm', stream: true, messages: list, ...rest });
        const encrypted = plain.map((message) => ({
          ...message,
          content: sealed(message.content),
          ...('reasoning_content' in message && { reasoning_content: sealed(message.reasoning_content) }),
        }));
        const plans = [planOf(bodyOf(plain)), planOf(bodyOf(encrypted), ENCRYPTION)];
        const [inPlaintext, inCiphertext] = plans.map((plan) =>
          chatOperation(plan, holdSizes(plan, TRANCHE_TOKENS)),
        );
        expect(plans.map(({ encryption }) => encryption !== undefined)).toEqual([false, true]);
        expect(inCiphertext).toEqual(inPlaintext);
      }),
    );
  });
});
