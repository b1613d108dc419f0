import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

/**
 * Tests of programs from other package registries, some of them compiled: `--mode clients`, `backends` or
 * `servers`, which take the longest to install; `--mode upgrade`, of the last release beside this one; and
 * `--mode console`, in a browser.
 */
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [`apps/all/test/${mode}/**/*.{clients,e2e}.ts`],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Each client needs a core to load, and so does the service that it calls.
    fileParallelism: false,
  },
}));
