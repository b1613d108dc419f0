import { Worker } from 'node:worker_threads';

export interface ThreadBounds {
  readonly threads: number;
  /** How many jobs may wait; 0 refuses what can't start at once. */
  readonly queueLimit: number;
  /** For waiting, and then again for running. */
  readonly timeoutMs: number;
  readonly heapLimitMb: number;
  /** For what lies outside the heap: array buffers, which V8's own limit leaves out. */
  readonly buffersLimitMb: number;
}

export type ThreadFailureKind = 'busy' | 'closed' | 'timeout' | 'memory' | 'crash';

/** Why a job has no answer. `busy` and `closed`: it never began. */
export class ThreadFailure extends Error {
  constructor(
    readonly kind: ThreadFailureKind,
    cause?: unknown,
  ) {
    super(`thread: ${kind}`, { cause });
    this.name = 'ThreadFailure';
  }
}

interface Task<Job, Answer> {
  readonly job: Job;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Set while a thread runs it: ends that thread. */
  stop?: (error: unknown) => void;
}

const megabyte = 1_048_576;
const memoryCheckMs = 50;

/**
 * Runs each job alone in a thread. A thread that misses the deadline, takes too much memory or breaks is ended and
 * replaced; only its job fails. The thread's module answers every message with exactly one message.
 */
export class ThreadPool<Job extends { readonly bytes: Uint8Array }, Answer> {
  readonly #idle: Worker[] = [];
  readonly #threads = new Map<Worker, Promise<void>>();
  readonly #queue: Task<Job, Answer>[] = [];
  readonly #running = new Set<Task<Job, Answer>>();
  #closed = false;

  constructor(
    private readonly entry: URL,
    private readonly bounds: ThreadBounds,
  ) {}

  /** Resolves with the thread's answer. Throws ThreadFailure, or the signal's reason. */
  async run(job: Job, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    if (this.#closed) throw new ThreadFailure('closed');
    const free = this.#idle.length + this.bounds.threads - this.#threads.size;
    if (this.#queue.length >= free + this.bounds.queueLimit) throw new ThreadFailure('busy');

    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const task: Task<Job, Answer> = { job, resolve, reject };
    const abort = (): void => this.#abort(task, signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const patience = setTimeout(() => this.#leave(task, new ThreadFailure('busy')), this.bounds.timeoutMs);
    this.#queue.push(task);
    this.#startNext();
    try {
      return await promise;
    } finally {
      clearTimeout(patience);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Ends every thread; jobs that wait or run fail. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of this.#queue.splice(0)) task.reject(new ThreadFailure('closed'));
    for (const task of this.#running) task.stop?.(new ThreadFailure('closed'));
    for (const worker of this.#idle.splice(0)) void worker.terminate(); // awaited through its exit below
    await Promise.all(this.#threads.values());
  }

  #abort(task: Task<Job, Answer>, reason: unknown): void {
    if (task.stop) task.stop(reason);
    else this.#leave(task, reason);
  }

  /** Takes a task that waits out of the queue. */
  #leave(task: Task<Job, Answer>, reason: unknown): void {
    const position = this.#queue.indexOf(task);
    if (position === -1) return;
    this.#queue.splice(position, 1);
    task.reject(reason);
  }

  #startNext(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const worker = this.#idle.pop() ?? this.#spawn();
      if (!worker) return;
      const task = this.#queue.shift();
      if (task) this.#start(task, worker);
    }
  }

  #spawn(): Worker | undefined {
    if (this.#threads.size >= this.bounds.threads) return undefined;
    const worker = new Worker(this.entry, {
      // A thread that reads hostile files gets no secrets, and what libraries print is not for the log.
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
      this.#threads.delete(worker);
      const position = this.#idle.indexOf(worker);
      if (position !== -1) this.#idle.splice(position, 1);
      resolve();
      this.#startNext();
    });
    this.#threads.set(worker, promise);
    return worker;
  }

  #start(task: Task<Job, Answer>, worker: Worker): void {
    const done = (): void => {
      clearTimeout(deadline);
      clearInterval(memoryWatch);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      this.#running.delete(task);
      delete task.stop;
    };
    const onMessage = (answer: Answer): void => {
      done();
      this.#idle.push(worker);
      task.resolve(answer);
      this.#startNext();
    };
    // The thread counts as taken until it has really exited, so that the bound on threads holds.
    const stop = (error: unknown): void => {
      done();
      void worker.terminate(); // its exit makes room for the next
      task.reject(error);
    };
    const onError = (error: unknown): void =>
      stop(new ThreadFailure(isOutOfMemory(error) ? 'memory' : 'crash', error));
    const onExit = (): void => stop(new ThreadFailure('crash'));
    const deadline = setTimeout(() => stop(new ThreadFailure('timeout')), this.bounds.timeoutMs);
    const memoryWatch = setInterval(() => {
      // A thread in a busy loop answers too; one that has just ended does not, and needs no watch.
      worker.getHeapStatistics().then(
        ({ external_memory: bytes }) => {
          const isOver = bytes > this.bounds.buffersLimitMb * megabyte;
          if (isOver && task.stop === stop) stop(new ThreadFailure('memory'));
        },
        () => undefined,
      );
    }, memoryCheckMs);

    task.stop = stop;
    this.#running.add(task);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    // The copy leaves the caller its bytes and hands the thread no more than them. `slice` of a Buffer is none.
    const bytes = new Uint8Array(task.job.bytes);
    worker.postMessage({ ...task.job, bytes }, [bytes.buffer]);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
