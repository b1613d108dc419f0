import { onTestFinished } from 'vitest';
import { Platform } from './platform.js';

/** A platform of the test that runs, stopped when it has finished. */
export async function ownPlatform(...options: Parameters<typeof Platform.start>): Promise<Platform> {
  const platform = await Platform.start(...options);
  onTestFinished(() => platform.stop());
  return platform;
}

/** The key that the first start prints. */
export function printedKey(platform: Platform): string {
  return /API key +(SVC_INFERENCE_KEY_\S+)/.exec(platform.service.output)?.[1] ?? '';
}
