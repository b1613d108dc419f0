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

/** The process's resident memory after the last call. */
let residentBytes = 0;

/**
 * Returns freed memory to the system, if the process has grown. By itself glibc returns only what is free at
 * the end of a heap, and a few small blocks of other threads keep hundreds of megabytes in the heaps of
 * threads that have ended.
 */
export async function returnFreedMemory(): Promise<void> {
  if (process.memoryUsage.rss() - residentBytes < WORTH_BYTES) return;
  try {
    const worker = new Worker(TRIM, { eval: true, env: {}, execArgv: EXEC_ARGV, stdout: true, stderr: true });
    worker.unref();
    await once(worker, 'exit', { signal: AbortSignal.timeout(DEADLINE_MS) });
  } catch {
    // There is no FFI or no glibc: the allocator keeps the memory.
  }
  residentBytes = process.memoryUsage.rss();
}
