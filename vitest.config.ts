import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

const pure = ['libs/*/{src,test}/**/*.spec.ts', 'apps/*/src/**/*.spec.ts'];
const real = [
  'libs/*/{src,test}/**/*.int.ts',
  'apps/*/src/**/*.int.ts',
  'apps/all/test/e2e/**/*.e2e.ts',
  'apps/all/test/fault/**/*.fault.ts',
];
const hostile = ['apps/all/test/hostile/**/*.hostile.ts'];

/** Only tests that repeat what chance decides have a long form. */
function repeating(patterns: string[]): string[] {
  return globSync(patterns, { cwd: import.meta.dirname }).filter((file) =>
    /\b(?:repeats\(|isLong\b)/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );
}

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      env: { SVC_TEST_FORM: isLong ? 'long' : 'short' },
      testTimeout: 60_000,
      hookTimeout: 120_000,
      // Each test has servers and ports of its own, so files may run side by side.
      maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
      projects: [
        // Without servers and state, files can share what they import.
        {
          extends: true as const,
          test: { name: 'pure', include: isLong ? repeating(pure) : pure, isolate: false },
        },
        {
          extends: true as const,
          test: { name: 'real', include: isLong ? [...repeating(real), ...hostile] : real },
        },
      ],
    },
  };
});
