import { fileURLToPath } from 'node:url';
import { OPERATOR_TOKEN } from './deployment.js';
import { mutantOptions } from './hostile/mutant.js';
import { OWN_ENV, OWN_OPTIONS } from './own-start.js';

/** The process as an operator starts it. */
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/**
 * Most files fail on purpose, many times over; the one about the protection switches it on. Each has its own
 * prices, so those of a shared process differ by any factor.
 */
export const BASE_ENV = { GATEWAY_FAILURE_BLOCK: 'off', SVC_CATALOG_PRICE_FACTOR: '0' };

/** The environment of a process on free ports, with these settings. */
export function ownEnv(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    PORT: '0',
    OPERATOR_PORT: '0',
    SVC_OPERATOR_TOKEN: OPERATOR_TOKEN,
    ...BASE_ENV,
    ...OWN_ENV,
    ...settings,
    NODE_OPTIONS: [...OWN_OPTIONS, settings['NODE_OPTIONS'] ?? '', ...mutantOptions()].join(' ').trim(),
  };
}
