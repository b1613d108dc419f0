import { defineConfig } from 'vitest/config';

const conditions = ['svc-source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      'libs/*/{src,test}/**/*.{spec,int}.ts',
      'apps/*/src/**/*.{spec,int}.ts',
      'apps/all/test/e2e/**/*.e2e.ts',
      'apps/all/test/fault/**/*.fault.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
