// Run by vitest before all tests of clusters.
import { buildS3 } from '@svc/infra';

/**
 * Builds the S3 server, which takes two minutes of a processor, before the deadlines of tests begin. If that
 * fails, the tests that need it say why.
 */
export async function setup(): Promise<void> {
  await buildS3(process.env).catch(() => undefined);
}
