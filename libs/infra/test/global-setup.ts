import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { Infra, type Server } from '../src/index.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the servers are that all tests of the run share: nobody stops them or removes what is another's. */
    readonly infra: Readonly<Record<Server['variable'], string>>;
  }
}

/** Brings up what the tests of a cluster stand on, empty where it is this machine's. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = join(import.meta.dirname, '../../../.svc/test-infra');
  const infra = new Infra(folder, process.env);
  await infra.wipe();
  project.provide('infra', await infra.up());
  return () => infra.wipe();
}
