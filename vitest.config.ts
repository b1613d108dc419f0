import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

const tests = [
  'libs/*/{src,test}/**/*.{spec,int}.ts',
  'apps/*/src/**/*.{spec,int}.ts',
  'apps/all/test/e2e/**/*.e2e.ts',
  'apps/all/test/fault/**/*.fault.ts',
];

/** Tests that repeat what chance decides have a long form; hostile tests have no other. */
function longTests(): string[] {
  const repeating = globSync(tests, { cwd: import.meta.dirname }).filter((file) =>
    /\b(?:repeats\(|isLong\b)/.test(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')),
  );
  return [...repeating, 'apps/all/test/hostile/**/*.hostile.ts'];
}

export default defineConfig(({ mode }) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: mode === 'long' ? longTests() : tests,
    env: { SVC_TEST_FORM: mode === 'long' ? 'long' : 'short' },
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
}));
