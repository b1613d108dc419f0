import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The growth from which a call is worthwhile. */
const WORTH_BYTES = 32 * 1_048_576;

/**
 * Only glibc has `malloc_trim`, and only Node's FFI can call it. Elsewhere this thread fails without effect.
 * The flag applies to this thread alone: those that read hostile files can't load FFI.
 */
const TRIM = `
  const { dlopen } = require('node:ffi');
  const { functions } = dlopen(null, { malloc_trim: { return: 'int32', arguments: ['uint64'] } });
  functions.malloc_trim(0n);
`;
const EXEC_ARGV = ['--experimental-ffi', '--disable-warning=ExperimentalWarning'];

/** Far longer than any call takes. */
const DEADLINE_MS = 10_000;

/** The process's resident memory without jobs: the lowest since it was last returned while none ran. */
let restingBytes = 0;
/** The jobs of all pools that run, and the number that have begun. */
let running = 0;
let begun = 0;

/** Memory of running jobs is not free yet. Returns what ends this one. */
export function beginJob(): () => void {
  running += 1;
  begun += 1;
  return () => {
    running -= 1;
  };
}

/**
 * Returns freed memory to the system, if the process has grown. By itself glibc returns only what is free at
 * the end of a heap, and a few small blocks of other threads keep hundreds of megabytes in the heaps of
 * threads that have ended.
 */
export async function returnFreedMemory(): Promise<void> {
  const residentBytes = process.memoryUsage.rss();
  restingBytes = Math.min(restingBytes, residentBytes);
  if (residentBytes - restingBytes < WORTH_BYTES) return;
  const begunBefore = begun;
  try {
    const worker = new Worker(TRIM, { eval: true, env: {}, execArgv: EXEC_ARGV, stdout: true, stderr: true });
    worker.unref();
    await once(worker, 'exit', { signal: AbortSignal.timeout(DEADLINE_MS) });
  } catch {
    // There is no FFI or no glibc: the allocator keeps the memory.
  }
  // What jobs use meanwhile is freed later, and has to be returned then.
  if (running === 0 && begun === begunBefore) restingBytes = process.memoryUsage.rss();
}
