import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Kubernetes itself is built for these, which takes longer than all other tests of the chart. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['deploy/test/cluster/*.spec.mjs'],
    globalSetup: ['deploy/test/cluster/setup.mjs'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
