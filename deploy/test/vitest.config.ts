import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What judges the chart is built by Go, so its tests are apart from the others. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['deploy/test/*.spec.mjs'],
    globalSetup: 'deploy/test/tools.mjs',
    // These end what hangs. How long a tool takes is the machine's affair.
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
