import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, FileBlocks } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { KeyStore } from '@svc/identity/accounts';
import type { RequestLease } from '@svc/paid/repeats';
import { PassingSet, type Logger, type Pause, StepLoop } from '@svc/runtime';
import { batches as metrics } from '@svc/telemetry';
import { BlockMissing, readBlocks, writeBlocks } from '../files/blocks.js';
import { type FileLine, LineSplitter } from '../files/line-splitter.js';
import type { LineCalls, LineOutcome, LineRun } from '../lines/line-calls.js';
import { LINE_BYTES, type LineFault, type ReadLine, duplicate, readLine } from '../lines/line-request.js';
import { RESULT_LINES, unmadeLine } from '../lines/result-lines.js';
import { SharedTurns } from '../lines/shared-turns.js';
import {
  type BatchProgress,
  type LeasedBatch,
  NO_LINE_USAGE,
  spendingOf,
  withUsage,
} from '../records/batch-record.js';
import type { BatchEnding, BatchStore, ResultFile } from '../records/batch.store.js';
import type { LineResult, ResultStore } from '../records/result.store.js';

/** A process that works on a batch renews its lease, and sees then whether the batch is cancelled. */
export const LEASE_MS = 10_000;
const RENEW_MS = 1_000;

/** How long a key is known before it is looked up again. */
const CALLER_MS = 1_000;

/** Results that cannot be stored are tried again, as long as this process has the batch. */
const STORE_AGAIN_MS = 500;

export interface RunParts {
  readonly batches: BatchStore;
  readonly results: ResultStore;
  readonly blocks: FileBlocks;
  readonly keys: KeyStore;
  readonly calls: LineCalls;
  readonly log: Logger;
  readonly linesInFlight: number;
  /** How long result files are kept, unless the batch says so. */
  readonly keptSeconds: number;
}

/** Why no further line begins. `lost`: the process stops, or another one has the batch. */
type Stop = 'cancelled' | 'expired' | 'lost';

const EXPIRED: LineFault = {
  code: 'batch_expired',
  message: 'This request could not be executed before the completion window expired.',
};

const SPENT: LineFault = {
  code: 'max_cost_reached',
  message: 'The requests before this one have cost the `max_cost_usd` of the batch.',
};

/** The work of this process on a batch. */
export class BatchRun implements LineRun {
  readonly turns = new SharedTurns();
  private readonly stopping = new AbortController();
  private readonly cancelling = new AbortController();
  private readonly renewals = new StepLoop({ step: () => this.renewed(), recover: () => this.unrenewed() });
  private renewedMs = performance.now();
  private readonly underWay = new PassingSet<Promise<void>>();
  private stopped: Stop | undefined;
  private completed = 0;
  private failed = 0;
  private costNano = 0n;
  private usage = NO_LINE_USAGE;
  /** The lines that have results, and the first line of each id. */
  private readonly done = new Set<number>();
  private readonly firsts = new Map<string, number>();
  private known: { readonly caller: Promise<Caller>; readonly untilMs: number } | undefined;

  constructor(
    private readonly batch: LeasedBatch,
    private readonly parts: RunParts,
  ) {}

  get stop(): AbortSignal {
    return this.stopping.signal;
  }

  get cancelled(): AbortSignal {
    return this.cancelling.signal;
  }

  private get isLost(): boolean {
    return this.stopped === 'lost';
  }

  /** The batch may have been cancelled. */
  look(): void {
    this.renewals.wake();
  }

  /** Ends without finishing. Lines under way finish, unless the process ends before. */
  leave(): void {
    this.stopFor('lost');
  }

  /** Resolves when the batch has ended, with true, or when this process has left it. */
  async run(): Promise<boolean> {
    const { batch, parts } = this;
    let hasEnded = false;
    this.renewals.start();
    try {
      await this.resume();
      await this.lines();
      if (!this.isLost) hasEnded = await this.finish();
    } catch (error) {
      this.fail(error);
    } finally {
      this.leave();
      await Promise.allSettled(this.underWay);
      await this.renewals.stop();
      await parts.batches.giveBack(batch).catch(() => undefined);
    }
    return hasEnded;
  }

  async caller(): Promise<Caller> {
    const nowMs = performance.now();
    if (!this.known || this.known.untilMs < nowMs) {
      const caller = this.lookUp();
      // A failure is reported to those that wait for it.
      caller.catch(() => (this.known = undefined));
      this.known = { caller, untilMs: nowMs + CALLER_MS };
    }
    return this.known.caller;
  }

  private fail(error: unknown): void {
    this.parts.log.warn({ err: error, batchId: this.batch.id }, 'a batch could not be continued here');
    metrics.failures.add(1);
    this.leave();
  }

  private async lookUp(): Promise<Caller> {
    const { accountId, keyId } = this.batch;
    const holder = await this.parts.keys.holder(accountId, keyId).catch((error: unknown) => {
      throw new Problem('UNAVAILABLE', { cause: error });
    });
    if (!holder) {
      const message = 'The API key that made this batch has been revoked or has expired.';
      throw new Problem('AUTHENTICATION_FAILED', { message });
    }
    return { ...holder, inBatch: true };
  }

  private stopFor(reason: Stop): void {
    // What has lost the batch must not end it.
    if (this.stopped === undefined || reason === 'lost') this.stopped = reason;
    this.stopping.abort();
    if (reason === 'cancelled') this.cancelling.abort();
  }

  private async renewed(): Promise<Pause> {
    const { batch, parts } = this;
    const sentMs = performance.now();
    if (!this.isLost) {
      const renewal = await parts.batches.renew(batch, LEASE_MS, this.progress);
      this.renewedMs = sentMs;
      if (!renewal) this.stopFor('lost');
      else if (renewal.isCancelled) this.stopFor('cancelled');
      else if (renewal.isExpired) this.stopFor('expired');
    }
    return { idleMs: RENEW_MS };
  }

  private unrenewed(): number {
    if (performance.now() - this.renewedMs > LEASE_MS) this.stopFor('lost');
    return RENEW_MS;
  }

  private get progress(): BatchProgress {
    const { completed, failed, costNano, usage } = this;
    return { completed, failed, costNano, usage };
  }

  /** What earlier processes have done. They can charge and deliver no line from then on. */
  private async resume(): Promise<void> {
    const { batch, parts } = this;
    await parts.calls.giveBackAll({ batchId: batch.id, accountId: batch.accountId });
    for (const result of await parts.results.done(batch.id)) this.note(result);
  }

  private note({ line, customId, isFailed, spending }: Omit<LineResult, 'content'>): void {
    this.done.add(line);
    if (spending) {
      this.costNano += spending.costNano;
      this.usage = withUsage(this.usage, spending.usage);
    }
    if (isFailed) this.failed += 1;
    else this.completed += 1;
    if (customId === undefined) return;
    const first = this.firsts.get(customId);
    if (first === undefined || line < first) this.firsts.set(customId, line);
  }

  /** Begins each line in its turn. */
  private async lines(): Promise<void> {
    if (this.batch.state === 'cancelling') this.stopFor('cancelled');
    for await (const lines of this.inputLines()) {
      for (const line of lines) await this.begin(line);
      if (this.isOver) break;
    }
    await Promise.all(this.underWay);
  }

  /** The lines of the input file, as they come. */
  private async *inputLines(): AsyncGenerator<readonly FileLine[]> {
    const { batch, parts } = this;
    const content = readBlocks(parts.blocks, batch.inputFileId, batch.blocks);
    const whole: FileLine[] = [];
    const splitter = new LineSplitter(LINE_BYTES, (line) => whole.push(line));
    for await (const block of this.asFarAsThere(content)) {
      splitter.add(block);
      yield whole.splice(0);
    }
    splitter.end();
    yield whole;
  }

  private async begin(line: FileLine): Promise<void> {
    const { batch, parts } = this;
    if (this.done.has(line.number) || this.isOver) return;
    const read = this.unique(readLine(line, batch.endpoint));
    while (this.underWay.size >= parts.linesInFlight) await Promise.race(this.underWay);
    const work: Promise<void> = this.made(read)
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.underWay.delete(work));
    this.underWay.add(work);
  }

  /** Whether no further line gets a result. */
  private get isOver(): boolean {
    // Those of a message batch are not counted as failed.
    const isExpired = this.stopped === 'expired' && this.batch.form === 'anthropic';
    return this.stopped === 'cancelled' || this.isLost || isExpired;
  }

  /** A batch whose file is gone ends with what it has done. */
  private async *asFarAsThere(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* content;
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error;
      this.parts.log.error({ err: error, batchId: this.batch.id }, 'the file of a batch is gone');
      this.stopFor('expired');
    }
  }

  private unique(read: ReadLine): ReadLine {
    const { number, customId } = read;
    if (customId === undefined) return read;
    const first = this.firsts.get(customId) ?? number;
    this.firsts.set(customId, first);
    return first === number ? read : duplicate(number, customId, first);
  }

  /** Gives a line its result, unless the run stops before it is sent. */
  private async made(read: ReadLine): Promise<void> {
    const { batch, parts } = this;
    const { number, customId, body, fault } = read;
    const of = { batchId: batch.id, number, customId };
    const refusal = fault ?? (this.isSpent ? SPENT : undefined);
    if (!body || refusal) {
      const content = RESULT_LINES[batch.form].faulty(of, refusal ?? EXPIRED);
      await this.store({ line: number, customId, isFailed: true, content, spending: undefined });
      return;
    }
    const { accountId, endpoint } = batch;
    const line = { batchId: batch.id, accountId, endpoint, number, body };
    const final = await parts.calls.final(line, this);
    if (final) {
      const isFailed = final.response.status >= 300;
      const content = RESULT_LINES[batch.form].responded(of, final.response);
      const spending = final.charge && spendingOf(final.charge);
      const result = { line: number, customId, isFailed, content, spending };
      await final.ended(await this.store(result, final.lease));
    } else if (this.stopped === 'expired' && !this.isOver) {
      const content = RESULT_LINES[batch.form].faulty(of, EXPIRED);
      await this.store({ line: number, customId, isFailed: true, content, spending: undefined });
    }
  }

  /** Whether the lines have cost what they may. */
  private get isSpent(): boolean {
    const { maxCostNano } = this.batch;
    return maxCostNano !== null && this.costNano >= maxCostNano;
  }

  /** The first result of a line counts, and none of a batch that has ended. */
  private async store(result: LineResult, lease?: RequestLease): Promise<LineOutcome> {
    const { batch, parts } = this;
    for (;;) {
      try {
        const stored = await parts.results.insert(batch.id, result, lease);
        if (stored) {
          this.note({ ...result, ...stored });
          metrics.lines.add(1, stored.isFailed ? 'failed' : 'completed');
        } else this.stopFor('lost');
        return stored?.isFailed === false ? 'delivered' : 'undelivered';
      } catch (error) {
        if (this.isLost) return 'unknown';
        parts.log.warn({ err: error, batchId: batch.id }, 'the result of a line could not be stored yet');
        await sleep(STORE_AGAIN_MS);
      }
    }
  }

  /** Writes the results into files. Returns false if another process has taken the batch over. */
  private async finish(): Promise<boolean> {
    const { batch, parts } = this;
    await parts.batches.finalize(batch);
    const { completed, failed } = this;
    const state: BatchEnding['state'] =
      this.stopped === 'cancelled' || this.stopped === 'expired' ? this.stopped : 'completed';
    const keptSeconds = batch.outputSeconds ?? parts.keptSeconds;
    const ending = { state, keptSeconds, ...this.progress };
    if (batch.form === 'anthropic') {
      const results = await this.written('output', batch.lines, this.withUnmade(state));
      return this.end({ ...ending, files: [results], purpose: 'message_results' });
    }
    const files: ResultFile[] = [];
    const contents = (isFailed: boolean): AsyncIterable<string> => parts.results.contents(batch.id, isFailed);
    if (completed > 0) files.push(await this.written('output', completed, contents(false)));
    if (failed > 0) files.push(await this.written('error', failed, contents(true)));
    return this.end({ ...ending, files, purpose: 'batch_output' });
  }

  private async end(ending: BatchEnding): Promise<boolean> {
    const hasEnded = await this.parts.batches.end(this.batch, ending);
    if (hasEnded) metrics.ended.add(1, ending.state);
    return hasEnded;
  }

  private async written(
    kind: 'output' | 'error',
    lines: number,
    contents: AsyncIterable<string>,
  ): Promise<ResultFile> {
    const { batch, parts } = this;
    const id = kind === 'error' ? batch.errorFileId : batch.outputFileId;
    const filename = `${batch.id}_${kind}.jsonl`;
    return { id, filename, lines, ...(await writeBlocks(parts.blocks, id, bytesOf(contents))) };
  }

  /** The results of a message batch, and a line for each request that has none. */
  private async *withUnmade(state: BatchEnding['state']): AsyncGenerator<string> {
    const { batch, parts, done } = this;
    yield* parts.results.contents(batch.id);
    if (state === 'completed') return;
    for await (const lines of this.inputLines())
      for (const line of lines) {
        if (done.has(line.number)) continue;
        const { customId } = readLine(line, batch.endpoint);
        yield unmadeLine(customId, state === 'cancelled' ? 'canceled' : 'expired');
      }
  }
}

async function* bytesOf(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}
