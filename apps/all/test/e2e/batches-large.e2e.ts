import { isLong } from '@svc/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BatchClient, chatLine } from '../batch-client.js';
import { GrownMemory, INSPECTED } from '../memory.js';
import { Platform } from '../platform.js';

const MIB = 1_024 * 1_024;
const LINES = isLong ? 50_000 : 1_500;

/** More than the lines in flight, a block of the file and what is cached may differ by. */
const MARGIN_BYTES = 12 * MIB;

/** The service has had every kind of work by then. */
const WARM_SHARE = 0.2;

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    hasOwnProcess: true,
    env: { ...INSPECTED, GATEWAY_BATCH_LINES_IN_FLIGHT: '32' },
  });
});
afterAll(() => platform.stop());

it(
  `runs a batch of ${LINES} lines in memory that does not grow with its lines`,
  { timeout: isLong ? 1_800_000 : 120_000 },
  async () => {
    const { apiKey } = await platform.account('1000.00');
    const client = new BatchClient(platform, apiKey);
    const text = Array.from({ length: LINES }, (_, at) => `${JSON.stringify(chatLine(String(at)))}\n`).join(
      '',
    );
    const startedMs = performance.now();
    const batch = await client.begin(text);
    const memory = await GrownMemory.since(platform.service);
    onTestFinished(() => memory.close());
    let warmBytes = 0;
    let laterBytes = 0;
    const tenthsMib: number[] = [];
    const end = await client.until(
      batch,
      async ({ status, request_counts: counts }) => {
        const bytes = await memory.bytes();
        const tenth = Math.floor(((counts?.completed ?? 0) / LINES) * 10);
        tenthsMib[tenth] = Math.max(tenthsMib[tenth] ?? 0, Math.round(bytes / MIB));
        if ((counts?.completed ?? 0) < LINES * WARM_SHARE) warmBytes = Math.max(warmBytes, bytes);
        else laterBytes = Math.max(laterBytes, bytes);
        return status === 'completed';
      },
      1_700_000,
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const measured = { tenthsMib, perSecond: Math.round(LINES / seconds) };
    process.stdout.write(`${LINES} lines: ${JSON.stringify(measured)}\n`);
    expect(end.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    expect(laterBytes).toBeLessThan(warmBytes + MARGIN_BYTES);
    const results = await client.resultsIn(end.output_file_id);
    expect(new Set(results.map(({ custom_id: id }) => id)).size).toBe(LINES);
  },
);
