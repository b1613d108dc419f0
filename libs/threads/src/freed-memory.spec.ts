import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { beginJob, returnFreedMemory } from './freed-memory.js';

const BLOCK_BYTES = 65_536;
const BLOCKS = 2_000;
/** One block in this number stays in use, so that glibc can't return the others by itself. */
const KEPT = 16;

const isGlibc = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it.runIf(isGlibc)('returns what a job frees, though it ran when memory was last returned', async () => {
  const end = beginJob();
  let blocks = Array.from({ length: BLOCKS }, () => Buffer.alloc(BLOCK_BYTES, 1));
  await returnFreedMemory();
  blocks = blocks.filter((_, at) => at % KEPT === 0);
  collectGarbage();
  end();
  const heldBytes = process.memoryUsage.rss();
  await returnFreedMemory();
  expect(heldBytes - process.memoryUsage.rss()).toBeGreaterThan((BLOCKS * BLOCK_BYTES) / 2);
  expect(blocks).toHaveLength(BLOCKS / KEPT);
});
