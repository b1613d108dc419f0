import { Worker } from 'node:worker_threads';
import type { JobOutcome } from './serve-jobs.js';
import { FairQueue } from './fair-queue.js';
import { beginJob, returnFreedMemory } from './freed-memory.js';
import { JobFailed } from './job-failed.js';

export interface ThreadBounds {
  readonly threads: number;
  /** How many jobs may wait; 0 rejects those that can't start at once. */
  readonly queueLimit: number;
  /** For waiting, and again for running. */
  readonly timeoutMs: number;
  readonly heapLimitMb: number;
  /** For memory outside the heap: array buffers, which V8's own limit does not cover. */
  readonly buffersLimitMb: number;
}

/** The caller of a job, and how long it wants the result. */
export interface JobCaller {
  /** Accounts take turns. */
  readonly account: string;
  /** Whether the caller gives up the job's `bytes`: they are then transferred without a copy. */
  readonly givesBytes?: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Task<Job, Value> {
  readonly job: Job;
  readonly account: string;
  readonly givesBytes: boolean;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
  /** Set while a thread runs the task: ends that thread. */
  stop?: (error: unknown) => void;
}

const megabyte = 1_048_576;
const memoryCheckMs = 50;

/** How long after a job garbage is left for the next one. */
const settleMs = 2_000;

/** An idle thread that holds more than this is ended: its heap is only collected while it works. */
const idleLimitBytes = 96 * megabyte;

/**
 * Runs each job alone in a thread; accounts take turns. A thread that misses the deadline, exceeds its memory
 * or breaks is ended and replaced, and only its job fails. The thread's module calls `serveJobs`.
 */
export class ThreadPool<Job extends object, Value> {
  private readonly idle: Worker[] = [];
  private readonly threads = new Map<Worker, Promise<void>>();
  private readonly queue = new FairQueue<Task<Job, Value>>();
  private readonly running = new Set<Task<Job, Value>>();
  private settling: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly entry: URL,
    private readonly bounds: ThreadBounds,
  ) {}

  /**
   * Resolves with the thread's result. The bytes under `bytes` are copied and stay the caller's, unless it
   * gives them up. Throws JobFailed, or the signal's reason.
   */
  async run(job: Job, { account, signal, givesBytes = false }: JobCaller): Promise<Value> {
    signal?.throwIfAborted();
    if (this.closed) throw new JobFailed('closed');
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const task: Task<Job, Value> = { job, account, givesBytes, resolve, reject };
    const abort = (): void => this.abort(task, signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const patience = setTimeout(() => this.leave(task, new JobFailed('busy')), this.bounds.timeoutMs);
    const free = this.idle.length + this.bounds.threads - this.threads.size;
    this.queue.push(task, free + this.bounds.queueLimit)?.reject(new JobFailed('busy'));
    this.startNext();
    try {
      return await promise;
    } finally {
      clearTimeout(patience);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Ends every thread; waiting and running jobs fail. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.settling);
    for (const task of this.queue.drain()) task.reject(new JobFailed('closed'));
    for (const task of this.running) task.stop?.(new JobFailed('closed'));
    for (const worker of this.idle.splice(0)) void worker.terminate(); // awaited through its exit below
    await Promise.all(this.threads.values());
  }

  /** Returns memory after a while, which also covers the jobs until then. */
  private settleLater(): void {
    if (this.closed) return;
    // It never rejects, and is not awaited.
    this.settling ??= setTimeout(() => void this.settle(), settleMs).unref();
  }

  private async settle(): Promise<void> {
    for (const worker of this.idle.slice()) {
      const bytes = await keptBytes(worker);
      const position = this.idle.indexOf(worker);
      if (bytes <= idleLimitBytes || position === -1) continue;
      this.idle.splice(position, 1);
      await worker.terminate();
    }
    this.settling = undefined;
    await returnFreedMemory();
  }

  private abort(task: Task<Job, Value>, reason: unknown): void {
    if (task.stop) task.stop(reason);
    else this.leave(task, reason);
  }

  /** Removes a waiting task from the queue. */
  private leave(task: Task<Job, Value>, reason: unknown): void {
    if (this.queue.remove(task)) task.reject(reason);
  }

  private startNext(): void {
    while (this.queue.size > 0 && !this.closed) {
      const worker = this.idle.pop() ?? this.spawn();
      if (!worker) return;
      const task = this.queue.shift();
      if (task) this.start(task, worker);
      else this.idle.push(worker);
    }
  }

  private spawn(): Worker | undefined {
    if (this.threads.size >= this.bounds.threads) return undefined;
    const worker = new Worker(this.entry, {
      // A thread that reads hostile files gets no secrets, and output of libraries does not belong in the
      // log.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: this.bounds.heapLimitMb },
    });
    worker.stdout.resume();
    worker.stderr.resume();
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.on('error', () => undefined); // the job's own listener tells it; an idle thread only leaves
    worker.once('exit', () => {
      this.threads.delete(worker);
      const position = this.idle.indexOf(worker);
      if (position !== -1) this.idle.splice(position, 1);
      resolve();
      this.startNext();
    });
    this.threads.set(worker, promise);
    return worker;
  }

  private start(task: Task<Job, Value>, worker: Worker): void {
    const endJob = beginJob();
    const done = (): void => {
      endJob();
      clearTimeout(deadline);
      clearInterval(memoryWatch);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      this.running.delete(task);
      this.queue.done(task);
      delete task.stop;
      this.settleLater();
    };
    const onMessage = (response: JobOutcome<Value>): void => {
      done();
      this.idle.push(worker);
      if ('value' in response) task.resolve(response.value);
      else task.reject(new JobFailed('refused', { reason: response.refused }));
      this.startNext();
    };
    // The thread counts as in use until it has really exited, so that the thread limit holds.
    const stop = (error: unknown): void => {
      done();
      void worker.terminate(); // its exit makes room for the next
      task.reject(error);
    };
    const onError = (error: unknown): void =>
      stop(new JobFailed(isOutOfMemory(error) ? 'memory' : 'crash', { cause: error }));
    const onExit = (): void => stop(new JobFailed('crash'));
    const deadline = setTimeout(() => stop(new JobFailed('timeout')), this.bounds.timeoutMs);
    const memoryWatch = setInterval(() => {
      // A thread in a busy loop responds too; one that has just ended does not, and needs no watch.
      worker.getHeapStatistics().then(
        ({ external_memory: bytes }) => {
          const isOver = bytes > this.bounds.buffersLimitMb * megabyte;
          if (isOver && task.stop === stop) stop(new JobFailed('memory'));
        },
        () => undefined,
      );
    }, memoryCheckMs);

    task.stop = stop;
    this.running.add(task);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    post(worker, task);
  }
}

/** The heap and buffers of a thread, including garbage; 0 if it has ended. */
async function keptBytes(worker: Worker): Promise<number> {
  try {
    const { total_heap_size: heapBytes, external_memory: buffersBytes } = await worker.getHeapStatistics();
    return heapBytes + buffersBytes;
  } catch {
    return 0;
  }
}

function post(worker: Worker, { job, givesBytes }: { job: object; givesBytes: boolean }): void {
  if (!('bytes' in job && job.bytes instanceof Uint8Array)) {
    worker.postMessage(job);
    return;
  }
  // A copy leaves the caller its bytes, and gives the thread no others. `slice` of a Buffer does not copy.
  const bytes = givesBytes && isWhole(job.bytes) ? job.bytes : new Uint8Array(job.bytes);
  worker.postMessage({ ...job, bytes }, [bytes.buffer]);
}

/** Whether the bytes are the whole of their buffer. */
const isWhole = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
