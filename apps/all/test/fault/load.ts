import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, errorOf } from '../answers.js';
import type { Deployment } from '../deployment.js';
import { TEST_MODEL } from '../platform.js';
import type { Payer } from '../payers.js';
import type { Random } from '../random.js';
import { costOfStream } from './open-streams.js';
import { type Asked, type Reconciliation, nanoCost } from '../reconciliation.js';

/** More than all the waits of a request for neighbours that do not answer, on any machine. */
const DEADLINE_MS = 60_000;
/** What a client waits after a refusal, so that the rest gets its turn. */
const REFUSED_MS = 20;
const OPERATOR_EVERY_MS = 30;

const KINDS = ['stream', 'stream', 'stream', 'stream', 'whole', 'whole', 'whole', 'left', 'cut'] as const;
type Kind = (typeof KINDS)[number];

interface Asking {
  readonly reconciliation: Reconciliation;
  readonly apiKey: string;
  readonly stream: boolean;
}

/** Clients and an operator that go on until the platform is gone under them. */
export class Load {
  /** Requests whose client's patience ended before they did. */
  readonly hung: string[] = [];
  /** How often which refusal was told; `none` where a connection ended without an answer. */
  readonly refusals = new Map<string, number>();
  private readonly over = new AbortController();
  private readonly loops: Promise<void>[];
  private operations = 0;

  constructor(
    private readonly deployment: Deployment,
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
    const { reconciliation, apiKeys } = random.pick(this.payers);
    const apiKey = random.pick(apiKeys);
    const kind = random.pick(KINDS);
    const stream = kind === 'stream' || kind === 'cut' || random.chance(0.5);
    const signal = AbortSignal.timeout(kind === 'left' ? random.between(1, 120) : DEADLINE_MS);
    reconciliation.sent += 1;
    try {
      await this.follow({ reconciliation, apiKey, stream }, bodyFor(kind, stream, random), signal);
    } catch (error) {
      if (!signal.aborted) this.note('none');
      throw error;
    } finally {
      if (signal.aborted && kind !== 'left') this.hung.push(kind);
    }
  }

  private note(refusal: string): void {
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
  }

  /** A request to its end, as its client sees it. */
  private async follow(
    { reconciliation, apiKey, stream }: Asking,
    body: object,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await this.deployment.chat(apiKey, body, { signal });
    const requestId = response.headers.get('x-request-id') ?? '';
    if (response.status !== 200) {
      const { code } = await errorOf(response);
      // Whoever is told that there is no answer pays for none.
      reconciliation.refused.add(requestId);
      this.note(code);
      await sleep(REFUSED_MS);
      return;
    }
    const cost = stream ? await costOfStream(response) : ((await response.json()) as { cost: Cost }).cost;
    if (!cost) return;
    reconciliation.ended.set(requestId, nanoCost(cost));
    reconciliation.spentByKey.set(apiKey, (reconciliation.spentByKey.get(apiKey) ?? 0) + nanoCost(cost).usd);
  }

  /** Credits, refunds and stakes, each remembered before it is asked for. */
  private async operate(): Promise<void> {
    await sleep(OPERATOR_EVERY_MS);
    const { random, name } = this.options;
    const payer = random.pick(this.payers);
    const { accountId } = payer.reconciliation;
    if (payer.stakes && random.chance(0.3)) {
      await this.deployment.operator('PUT', `/accounts/${accountId}/stake`, {
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
    payer.reconciliation.asked.set(reference, asked);
    const { status } = await this.deployment.operator(
      'POST',
      `/accounts/${accountId}/${asked.path}`,
      asked.body,
    );
    if (status === 201) asked.told = true;
  }

  /** An answer that cost something and that nobody was promised a refund for. */
  private refundable({ reconciliation }: Payer): string | undefined {
    const taken = new Set([...reconciliation.asked.values()].map(({ body }) => body.requestId));
    const paid = [...reconciliation.ended].filter(
      ([requestId, { usd, diem }]) => usd + diem > 0 && !taken.has(requestId),
    );
    return paid.at(-1)?.[0];
  }
}

function bodyFor(kind: Kind, stream: boolean, random: Random): object {
  const tokens = random.chance(0.1) ? random.between(100, 400) : random.between(1, 30);
  const settings = [`tokens=${tokens}`, `itl-ms=${random.between(0, 3)}`, `ttft-ms=${random.between(0, 10)}`];
  if (kind === 'cut') settings.push('fault=cut-mid-stream', `after=${random.between(1, 20)}`);
  const content = `go on [[sim ${settings.join(' ')}]]`;
  return { model: TEST_MODEL.id, messages: [{ role: 'user', content }], stream };
}
