import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, errorOf } from '../response-bodies.js';
import type { Deployment } from '../deployment.js';
import { TEST_MODEL } from '../platform.js';
import type { Payer } from '../payers.js';
import type { Random } from '../random.js';
import { costOfStream } from './open-streams.js';
import { type OperatorRequest, type Reconciliation, nanoCost } from '../reconciliation.js';

/** More than the sum of all timeouts of a request, on any machine. */
const DEADLINE_MS = 60_000;
/** A client's pause after a refusal, so that others get their turn. */
const REFUSED_MS = 20;
const OPERATOR_EVERY_MS = 30;

const KINDS = ['stream', 'stream', 'stream', 'stream', 'whole', 'whole', 'whole', 'left', 'cut'] as const;
type Kind = (typeof KINDS)[number];

interface Asking {
  readonly reconciliation: Reconciliation;
  readonly apiKey: string;
  readonly stream: boolean;
}

/** Clients and an operator that continue until the platform is gone. */
export class Load {
  /** Requests that ended by the client's timeout. */
  readonly hung: string[] = [];
  /** The number of each refusal; `none` for a connection that ended without a response. */
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

  /** Starts nothing more, and resolves once all requests have ended. */
  async end(): Promise<void> {
    this.over.abort();
    await Promise.all(this.loops);
  }

  private async repeat(act: () => Promise<void>): Promise<void> {
    // All clients start together.
    await sleep(0);
    while (!this.over.signal.aborted) {
      try {
        await act();
      } catch {
        // The platform is gone, or the client has left. What was received until then is recorded.
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

  /** Runs a request to its end, as its client sees it. */
  private async follow(
    { reconciliation, apiKey, stream }: Asking,
    body: object,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await this.deployment.chat(apiKey, body, { signal });
    const requestId = response.headers.get('x-request-id') ?? '';
    if (response.status !== 200) {
      const { code } = await errorOf(response);
      // A client without a response must not be charged.
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

  /** Credits, refunds and stakes, each recorded before it is sent. */
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
    const request: OperatorRequest =
      refundable === undefined
        ? { path: 'credits', body: { reference, usd: payer.creditUsd }, isConfirmed: false }
        : { path: 'refunds', body: { reference, requestId: refundable }, isConfirmed: false };
    payer.reconciliation.operatorRequests.set(reference, request);
    const { status } = await this.deployment.operator(
      'POST',
      `/accounts/${accountId}/${request.path}`,
      request.body,
    );
    if (status === 201) request.isConfirmed = true;
  }

  /** A response that had a cost and that has not been refunded. */
  private refundable({ reconciliation }: Payer): string | undefined {
    const taken = new Set([...reconciliation.operatorRequests.values()].map(({ body }) => body.requestId));
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
