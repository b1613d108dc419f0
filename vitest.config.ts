import { globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const conditions = ['svc-source'];

const pure = ['libs/*/{src,test}/**/*.spec.ts', 'apps/*/src/**/*.spec.ts'];
const real = ['libs/*/{src,test}/**/*.int.ts', 'apps/*/src/**/*.int.ts', 'apps/all/test/fault/**/*.fault.ts'];
const endToEnd = ['apps/all/test/e2e/**/*.e2e.ts'];
/** What needs Kafka, Redis and PostgreSQL beside each other. */
const cluster = ['libs/*/{src,test}/**/*.cluster.ts', 'apps/*/{src,test}/**/*.cluster.ts'];
const hostile = ['apps/all/test/hostile/**/*.hostile.ts'];

/** Only tests that repeat what chance decides have a long form. */
function repeating(patterns: string[]): string[] {
  return globSync(patterns, { cwd: import.meta.dirname }).filter((file) =>
    /\b(?:repeats\(|isLong\b)/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );
}

/** The first ones may wait long for what they provoke; the last ones fill the processors at the end. */
const kinds = ['fault', 'hostile', 'e2e', 'int', 'cluster', 'spec'];

/** What takes longest and is short: processes that start again and again, and suites that stand in other files. */
const SLOW =
  /\/(?:start|refused-start|stop|audit|money-limits|shared-ledger|usage-history|redis-limiter|solana-histories)\.\w+\.ts$/;

/** Long files first, so that none is alone at the end; those of a project together, so that its workers go on. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = files.map((file) => ({
      file,
      place: kinds.findIndex((kind) => file.moduleId.endsWith(`.${kind}.ts`)),
      bytes: SLOW.test(file.moduleId) ? Number.MAX_SAFE_INTEGER : statSync(file.moduleId).size,
    }));
    return ranked.toSorted((a, b) => a.place - b.place || b.bytes - a.bytes).map(({ file }) => file);
  }
}

const clustered = {
  extends: true as const,
  test: {
    name: 'cluster',
    include: cluster,
    globalSetup: 'libs/infra/test/global-setup.ts',
    testTimeout: 120_000,
  },
};

/** End-to-end tests that are about one process or its data folder, and not about what clients meet. */
const ofOneProcess = [
  // How it starts and stops, what it says then, and what is in its data folder.
  'apps/all/test/e2e/{start,refused-start,stop}.e2e.ts',
  // The days of its database are moved, for which nothing else may run.
  'apps/all/test/e2e/staking.e2e.ts',
  // Memory, threads and event loop of its process.
  'apps/all/test/e2e/chat-slow-reader.e2e.ts',
  'apps/all/test/e2e/chat-fuzz.e2e.ts',
  // All that is in its database is counted.
  'apps/all/test/e2e/audit.e2e.ts',
];

const clusteredEndToEnd = {
  extends: true as const,
  test: {
    name: 'cluster e2e',
    include: ['apps/all/test/e2e/**/*.e2e.ts'],
    exclude: ofOneProcess,
    globalSetup: 'apps/all/test/cluster-setup.ts',
    // They share one cluster, which is arranged for each file.
    fileParallelism: false,
    sequence: { groupOrder: 1 },
    testTimeout: 120_000,
  },
};

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      globalSetup: 'libs/storage/test/run-setup.ts',
      env: { SVC_TEST_FORM: isLong ? 'long' : 'short' },
      testTimeout: 60_000,
      hookTimeout: 120_000,
      // Each test has servers and ports of its own, so files may run side by side: two more than there are processors
      // for, since half of their time is waited for what they provoke.
      maxWorkers: 2 + Math.max(2, Math.floor(availableParallelism() / 2)),
      // What files import is much of their time, and their servers are what keeps them apart.
      isolate: false,
      sequence: { sequencer: LongestFirst },
      projects:
        mode === 'cluster'
          ? [clustered, clusteredEndToEnd]
          : [
              {
                extends: true as const,
                test: { name: 'pure', include: isLong ? repeating(pure) : pure },
              },
              {
                extends: true as const,
                test: { name: 'real', include: isLong ? [...repeating(real), ...hostile] : real },
              },
              // Every answer is held against the published description.
              {
                extends: true as const,
                test: {
                  name: 'e2e',
                  include: isLong ? repeating(endToEnd) : endToEnd,
                  setupFiles: 'apps/all/test/described-answers.ts',
                },
              },
            ],
    },
  };
});
