import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Charge } from '@svc/contracts/messages';
import { Charges, type MediaOrder, type NewMediaJob } from '@svc/contracts/ports';
import {
  type BackendJob,
  BackendJobs,
  type BackendJobStatus,
  type ChunkStream,
  type JobCall,
  type JobOrderCall,
  type Served,
  type ServedBy,
} from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { createLogger } from '@svc/runtime';
import type { Database } from '@svc/storage';
import { MediaStore, type StoredObject } from '../src/files/media-store.js';
import { LocalMediaJobs } from '../src/local-media-jobs.js';
import { mediaJobsConfig } from '../src/media-jobs.config.js';
import { JobStore } from '../src/records/job.store.js';
import { JobSteps } from '../src/steps/job-steps.js';
import { z } from 'zod';

export const PRICE_NANO = 200_000_000n;

/** The process has died: nothing that it does has an effect any more. */
class Crash extends Error {
  override readonly name = 'Crash';
}

/** Decides what fails. */
export type Chance = (share: number) => boolean;

const VIDEO = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom'), Buffer.alloc(2_000, 7)]);

const SERVED_BY: ServedBy = { backend: 'gpu-1', retries: 0 };

interface BackendEntry {
  state: 'running' | 'completed' | 'failed';
  isRefused: boolean;
}

/** A model server that keeps its jobs in memory, and may lose its responses. */
export class FixtureBackend extends BackendJobs {
  readonly jobs = new Map<string, BackendEntry>();
  readonly orders: MediaOrder[] = [];
  submits = 0;
  cancels = 0;
  /** What it returns as media. */
  media: Buffer = VIDEO;
  /** Whether its media never ends. */
  isStalled = false;
  /** The signals of the calls for media. */
  readonly fetches: AbortSignal[] = [];

  constructor(private readonly chance: Chance) {
    super();
  }

  override async submit({ order }: JobOrderCall): Promise<Served<BackendJob>> {
    await this.reached();
    this.orders.push(order);
    this.submits += 1;
    if (this.chance(0.05)) throw new Problem('INVALID_REQUEST');
    const job = randomUUID();
    this.jobs.set(job, { state: 'running', isRefused: false });
    // The response is lost after the job was accepted.
    if (this.chance(0.1)) throw new Problem('INFERENCE_FAILED');
    return { ...SERVED_BY, result: { job } };
  }

  override async status({ job, backend }: JobCall): Promise<Served<BackendJobStatus>> {
    await this.reached(backend);
    if (this.chance(0.1)) throw new Problem('REQUEST_TIMEOUT');
    return { ...SERVED_BY, result: this.jobs.get(job) ?? { state: 'unknown' } };
  }

  override async cancel({ job, backend }: JobCall): Promise<ServedBy> {
    await this.reached(backend);
    this.cancels += 1;
    this.jobs.delete(job);
    return SERVED_BY;
  }

  override async content({ job }: JobCall, signal: AbortSignal): Promise<ChunkStream> {
    await Promise.resolve();
    this.fetches.push(signal);
    if (this.isStalled) await once(signal, 'abort').then(() => signal.throwIfAborted());
    if (this.jobs.get(job)?.state !== 'completed') throw new Problem('INFERENCE_FAILED');
    const isCut = this.chance(0.2);
    const { media } = this;
    async function* bytes(): AsyncGenerator<readonly Uint8Array[]> {
      yield [media.subarray(0, 1_000)];
      await Promise.resolve();
      if (isCut) throw new Problem('INFERENCE_FAILED');
      yield [media.subarray(1_000)];
    }
    return { ...SERVED_BY, bytes: bytes() };
  }

  private async reached(backend = SERVED_BY.backend): Promise<void> {
    await Promise.resolve();
    if (this.chance(0.1)) throw new Problem('MODEL_AT_CAPACITY');
    if (backend !== SERVED_BY.backend) throw new Error('a call about a job goes to the backend that has it');
  }

  /** Each running job may end. */
  progress(): void {
    for (const entry of this.jobs.values()) {
      if (entry.state !== 'running' || !this.chance(0.5)) continue;
      entry.state = this.chance(0.3) ? 'failed' : 'completed';
      entry.isRefused = this.chance(0.5);
    }
  }
}

/** The books, to which charges come late from the log. */
export class FixtureBooks extends Charges {
  readonly posted = new Map<string, bigint>();
  readonly refunded = new Map<string, bigint>();
  readonly log: Charge[] = [];

  constructor(private readonly chance: Chance) {
    super();
  }

  override async post(charges: readonly Charge[]): Promise<void> {
    await Promise.resolve();
    for (const { requestId, cost } of charges)
      if (!this.posted.has(requestId)) this.posted.set(requestId, cost.usdNano);
  }

  override async giveBack({ requestId }: Charge): Promise<void> {
    await Promise.resolve();
    if (this.chance(0.1)) throw new Problem('UNAVAILABLE');
    const paid = this.posted.get(requestId) ?? 0n;
    this.posted.set(requestId, paid);
    if (paid > 0n) this.refunded.set(requestId, paid);
  }

  /** The log delivers what it has. */
  async deliver(): Promise<void> {
    for (const { requestId, cost } of this.log.splice(0))
      if (!this.posted.has(requestId)) this.posted.set(requestId, cost.usdNano);
    await Promise.resolve();
  }
}

/** Objects in memory. */
export class FixtureFiles extends MediaStore {
  readonly objects = new Map<string, Buffer>();

  constructor(private readonly chance: Chance) {
    super();
  }

  override async put(key: string, content: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    if (this.chance(0.1)) throw new Error('the disk is full');
    const bytes = Buffer.concat(parts);
    this.objects.set(key, bytes);
    return {
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      head: bytes.subarray(0, 64),
    };
  }

  override async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    await Promise.resolve();
    const bytes = this.objects.get(key);
    return (
      bytes &&
      (async function* () {
        yield await Promise.resolve(bytes);
      })()
    );
  }

  override urlOf(key: string, seconds: number): Promise<string | undefined> {
    return Promise.resolve(`https://media.example/${key}?seconds=${seconds}`);
  }

  override async remove(key: string): Promise<void> {
    await Promise.resolve();
    this.objects.delete(key);
  }
}

/** Makes a neighbour of a process one whose process may die before or after each of its calls. */
function crashable<Target extends object>(target: Target, life: Life): Target {
  return new Proxy(target, {
    get: (inner, name) => {
      const member: unknown = Reflect.get(inner, name);
      if (typeof member !== 'function') return member;
      return async (...parameters: unknown[]): Promise<unknown> => {
        life.check();
        const result: unknown = await Reflect.apply(member, inner, parameters);
        life.check();
        return result;
      };
    },
  });
}

/** One run of a process. */
class Life {
  private isOver = false;

  constructor(private readonly chance: Chance) {}

  check(): void {
    if (!this.isOver && this.chance(0.02)) this.isOver = true;
    if (this.isOver) throw new Crash();
  }
}

export interface FixtureJob {
  readonly id: string;
  readonly requestId: string;
}

/** Jobs, what they depend on, and processes that may die at any call. */
export class JobFixture {
  isFaulty = true;
  nowMs = Date.UTC(2026, 0, 1);
  readonly jobs: FixtureJob[] = [];
  readonly store: JobStore;
  readonly backend: FixtureBackend;
  readonly books: FixtureBooks;
  readonly files: FixtureFiles;
  readonly chance: Chance;

  constructor(
    database: Database,
    private readonly random: () => number,
    readonly accountId: string,
  ) {
    this.chance = (share) => this.isFaulty && random() < share;
    this.store = new JobStore(database);
    this.backend = new FixtureBackend(this.chance);
    this.books = new FixtureBooks(this.chance);
    this.files = new FixtureFiles(this.chance);
  }

  private readonly now = (): Date => new Date(this.nowMs);

  port(life = new Life(() => false)): LocalMediaJobs {
    return new LocalMediaJobs({
      store: crashable(this.store, life),
      files: this.files,
      config: z.object(mediaJobsConfig).parse({ MEDIA_LIVE_JOBS: '5' }),
      now: this.now,
    });
  }

  newJob(): NewMediaJob {
    const id = randomUUID();
    return {
      id,
      requestId: `req-${id}`,
      accountId: this.accountId,
      keyId: 'key',
      kind: 'video',
      model: 'clip',
      order: {
        prompt: 'a cat',
        seconds: 5,
        fields: {},
        others: {},
        picture: { type: 'image/png', base64: 'AAAA' },
        inputs: [{ part: 'last_image', type: 'image/png', base64: 'BBBB' }],
      },
      bodySha256: 'hash',
      expectedMs: 60_000,
      deadlineMs: 600_000,
    };
  }

  /** A request of a client, which is charged in between. */
  async order(): Promise<string | undefined> {
    const job = this.newJob();
    const port = this.port(new Life(this.chance));
    await port.place(job);
    this.jobs.push(job);
    if (this.chance(0.1)) {
      // Refused by the ledger, and so never charged.
      await port.withdraw(job.id);
      return undefined;
    }
    this.books.log.push(this.chargeOf(job));
    await port.charged(job.id);
    return job.id;
  }

  /** Works on whatever is due, in a process of its own. */
  async work(): Promise<void> {
    const life = new Life(this.chance);
    const steps = new JobSteps({
      store: crashable(this.store, life),
      files: crashable(this.files, life),
      backends: crashable(this.backend, life),
      charges: crashable(this.books, life),
      log: createLogger('silent'),
      now: this.now,
      limitBytes: 10_000,
    });
    const signal = new AbortController().signal;
    const due = await this.store.due(this.now(), 100);
    // Two workers may have seen the same job.
    const twice = due.flatMap((id) => (this.chance(0.2) ? [id, id] : [id]));
    await Promise.allSettled(twice.map((id) => steps.step(id, signal)));
  }

  pass(ms: number): void {
    this.nowMs += ms;
  }

  /** A moment: something happens, and time passes. */
  async turn(): Promise<void> {
    const { random } = this;
    if (random() < 0.3) await this.order().catch(() => undefined);
    if (random() < 0.4) await this.work();
    if (random() < 0.3) this.backend.progress();
    if (random() < 0.03) this.backend.jobs.clear();
    if (random() < 0.3) await this.books.deliver();
    const job = this.jobs[Math.floor(random() * this.jobs.length)];
    const port = this.port(new Life(this.chance));
    if (job && random() < 0.1) await port.remove(job.id).catch(() => undefined);
    if (job && random() < 0.05) await port.end(job.id).catch(() => undefined);
    this.pass(random() < 0.02 ? 700_000 : random() * 20_000);
  }

  chargeOf({ requestId }: FixtureJob): Charge {
    return {
      requestId,
      accountId: this.accountId,
      keyId: 'key',
      model: 'clip',
      backend: 'media-jobs',
      at: this.now().toISOString(),
      usage: {
        promptTokens: 0,
        completionTokens: 0,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
      lines: [],
      cost: { usdNano: PRICE_NANO, diemNano: 0n },
      writeOffNano: 0n,
      durationMs: 0,
    };
  }
}
