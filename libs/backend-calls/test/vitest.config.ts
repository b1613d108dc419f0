import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['libs/backend-calls/test/*.bench.ts'], root: process.cwd(), testTimeout: 900_000 },
});
