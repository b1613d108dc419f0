import { setTimeout as sleep } from 'node:timers/promises';
import type { Chunk, Cost } from '../answers.js';
import { type Platform, TEST_MODEL } from '../platform.js';
import type { Payer } from '../payers.js';
import type { Random } from '../random.js';
import { type Asked, nanoCost } from '../witness.js';

/** No request of this load takes nearly as long on any machine. */
const DEADLINE_MS = 30_000;
/** What a client waits after a refusal, so that the rest gets its turn. */
const REFUSED_MS = 20;
const OPERATOR_EVERY_MS = 30;

const KINDS = ['stream', 'stream', 'stream', 'stream', 'whole', 'whole', 'whole', 'left', 'cut'] as const;
type Kind = (typeof KINDS)[number];

/** Clients and an operator that go on until the platform is gone under them. */
export class Load {
  private readonly over = new AbortController();
  private readonly loops: Promise<void>[];
  private operations = 0;

  constructor(
    private readonly platform: Platform,
    private readonly payers: readonly [Payer, ...Payer[]],
    private readonly options: { readonly random: Random; readonly clients: number; readonly name: string },
  ) {
    this.loops = [
      ...Array.from({ length: options.clients }, () => this.repeat(() => this.ask())),
      this.repeat(() => this.operate()),
    ];
  }

  /** Starts nothing more and resolves once everybody knows how their request ended. */
  async end(): Promise<void> {
    this.over.abort();
    await Promise.all(this.loops);
  }

  private async repeat(act: () => Promise<void>): Promise<void> {
    // Nobody starts before all are there.
    await sleep(0);
    while (!this.over.signal.aborted) {
      try {
        await act();
      } catch {
        // The platform is gone, or the client has left. What was seen until then is remembered.
        await sleep(1);
      }
    }
  }

  private async ask(): Promise<void> {
    const { random } = this.options;
    const { witness, apiKeys } = random.pick(this.payers);
    const apiKey = random.pick(apiKeys);
    const kind = random.pick(KINDS);
    const stream = kind === 'stream' || kind === 'cut' || random.chance(0.5);
    const init = { signal: signalFor(kind, random) };
    witness.sent += 1;
    const response = await this.platform.chat(apiKey, bodyFor(kind, stream, random), init);
    const requestId = response.headers.get('x-request-id') ?? '';
    if (response.status !== 200) {
      await response.text();
      // Whoever is told that there is no answer pays for none.
      witness.refused.add(requestId);
      await sleep(REFUSED_MS);
      return;
    }
    const cost = stream ? await costOfStream(response) : ((await response.json()) as { cost: Cost }).cost;
    if (!cost) return;
    witness.ended.set(requestId, nanoCost(cost));
    witness.spentByKey.set(apiKey, (witness.spentByKey.get(apiKey) ?? 0) + nanoCost(cost).usd);
  }

  /** Credits, refunds and stakes, each remembered before it is asked for. */
  private async operate(): Promise<void> {
    await sleep(OPERATOR_EVERY_MS);
    const { random, name } = this.options;
    const payer = random.pick(this.payers);
    const { accountId } = payer.witness;
    if (payer.stakes && random.chance(0.3)) {
      await this.platform.operator('PUT', `/accounts/${accountId}/stake`, {
        tokens: random.between(1, 9) / 1000,
      });
      return;
    }
    const reference = `${name}-${(this.operations += 1)}`;
    const refundable = random.chance(0.3) ? this.refundable(payer) : undefined;
    const asked: Asked =
      refundable === undefined
        ? { path: 'credits', body: { reference, usd: payer.creditUsd }, told: false }
        : { path: 'refunds', body: { reference, requestId: refundable }, told: false };
    payer.witness.asked.set(reference, asked);
    const { status } = await this.platform.operator(
      'POST',
      `/accounts/${accountId}/${asked.path}`,
      asked.body,
    );
    if (status === 201) asked.told = true;
  }

  /** An answer that cost something and that nobody was promised a refund for. */
  private refundable({ witness }: Payer): string | undefined {
    const taken = new Set([...witness.asked.values()].map(({ body }) => body.requestId));
    const paid = [...witness.ended].filter(
      ([requestId, { usd, diem }]) => usd + diem > 0 && !taken.has(requestId),
    );
    return paid.at(-1)?.[0];
  }
}

function signalFor(kind: Kind, random: Random): AbortSignal {
  return AbortSignal.timeout(kind === 'left' ? random.between(1, 120) : DEADLINE_MS);
}

function bodyFor(kind: Kind, stream: boolean, random: Random): object {
  const tokens = random.chance(0.1) ? random.between(100, 400) : random.between(1, 30);
  const settings = [`tokens=${tokens}`, `itl-ms=${random.between(0, 3)}`, `ttft-ms=${random.between(0, 10)}`];
  if (kind === 'cut') settings.push('fault=cut-mid-stream', `after=${random.between(1, 20)}`);
  const content = `go on [[sim ${settings.join(' ')}]]`;
  return { model: TEST_MODEL.id, messages: [{ role: 'user', content }], stream };
}

/** What the last chunk said that the answer cost, if its end was seen: by then it must be safe, whatever comes. */
async function costOfStream(response: Response): Promise<Cost | undefined> {
  let text = '';
  try {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.endsWith('data: [DONE]\n\n')) break;
    }
  } catch {
    // Cut off. The end may have been seen all the same.
  }
  const events = text.split('\n\n').slice(0, -1);
  if (events.at(-1) !== 'data: [DONE]') return undefined;
  const last = events.at(-2);
  return last === undefined ? undefined : (JSON.parse(last.slice('data: '.length)) as Chunk).cost;
}
