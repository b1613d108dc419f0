import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

/** Clients come from another package registry, so they are apart from the other tests. */
export default defineConfig({
  root: fileURLToPath(new URL('../../../..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['apps/all/test/clients/**/*.clients.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A client takes a core to load, and so does what it talks to.
    fileParallelism: false,
  },
});
