// Calls the service by openapi-fetch on the generated types; prints what it read: `node sdk.mjs URL KEY`
import createClient from 'openapi-fetch';

/** @type {unknown} */
const here = globalThis;
const { process } =
  /** @type {{ process: { argv: string[], stdout: { write: (text: string) => void } } }} */ (here);
const [, , baseUrl, key] = process.argv;

/** @type {ReturnType<typeof createClient<import('./public.ts').paths>>} */
const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } });

/** @type {{ role: 'user', content: string }[]} */
const messages = [{ role: 'user', content: 'Hello' }];
const chat = () =>
  client.POST('/chat/completions', {
    params: { header: { 'Idempotency-Key': 'order-1' } },
    body: { model: 'test-model', messages },
  });

const first = await chat();
const again = await chat();
const completion = wholeOf(first.data);
const unpaid = await client.POST('/x402/top-up', { params: { query: { amount: '5' } } });
const unreadable = await client.POST('/x402/top-up', {
  params: { header: { 'PAYMENT-SIGNATURE': 'not a payment' } },
});
const encrypted = await client.POST('/chat/completions', {
  params: {
    header: {
      'X-SVC-TEE-Client-Pub-Key': 'ab',
      'X-SVC-TEE-Model-Pub-Key': 'cd',
      'X-SVC-TEE-Signing-Algo': 'ecdsa',
    },
  },
  body: { model: 'test-model', messages },
});
const job = await client.POST('/video/queue', {
  params: { header: { 'Idempotency-Key': 'order-2' } },
  body: { model: 'nothing', prompt: 'A cat', duration: '5s', end_image_url: 'https://example.com/cat.png' },
});
const models = await client.GET('/models', { params: { query: { type: 'all' } } });
const model = models.data?.data[0];

/**
 * A completion that is no stream.
 *
 * @template {object} Body
 * @param {Body | undefined} body
 * @returns {Extract<Body, { choices: unknown }> | undefined}
 */
function wholeOf(body) {
  return body && 'choices' in body ? /** @type {any} */ (body) : undefined;
}

const seen = {
  id: completion?.id,
  repeated: wholeOf(again.data)?.id,
  isReplayed: again.response.headers.get('idempotent-replayed'),
  text: typeof completion?.choices[0]?.message.content,
  tokens: typeof completion?.usage.total_tokens,
  costUsd: typeof completion?.cost.usd,
  unpaid: unpaid.response.status,
  unreadable: unreadable.response.status,
  encrypted: encrypted.response.status,
  job: job.error && 'code' in job.error ? job.error.code : undefined,
  model: model?.id,
  privacy: model && 'model_spec' in model ? model.model_spec.privacy : undefined,
};
process.stdout.write(JSON.stringify(seen));
