import { onTestFinished } from 'vitest';
import { Platform, type PlatformOptions } from './platform.js';

/** A platform for one test, stopped after it. A concurrent test passes its own `onTestFinished`. */
export async function ownPlatform(options?: PlatformOptions, finished = onTestFinished): Promise<Platform> {
  const platform = await Platform.start({ ...options, hasOwnProcess: true });
  finished(() => platform.stop());
  return platform;
}

/** The key that the first start prints. */
export function printedKey(platform: Platform): string {
  return /API key +(SVC_INFERENCE_KEY_\S+)/.exec(platform.service.output)?.[1] ?? '';
}
