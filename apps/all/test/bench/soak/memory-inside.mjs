// Preloaded into the measured process: every few seconds, after a full garbage collection, appends its memory
// and its number of open files to the file in the query of this module's URL.
import { appendFileSync, readdirSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const SAMPLE_MS = 5_000;

const path = new URL(import.meta.url).searchParams.get('file');

function sample() {
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const files = readdirSync('/proc/self/fd').length;
  appendFileSync(path, `${JSON.stringify({ atMs: Date.now(), rss, live: heapUsed + external, files })}\n`);
}

if (isMainThread) setInterval(sample, SAMPLE_MS).unref();
