import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What judges the chart is built by Go, so its tests are apart from the others. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['deploy/test/**/*.spec.mjs'],
    globalSetup: 'deploy/test/tools.mjs',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
