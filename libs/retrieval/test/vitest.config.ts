import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['libs/retrieval/test/*.bench.ts'], root: process.cwd(), testTimeout: 120_000 },
});
