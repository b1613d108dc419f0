import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@svc/contracts/problems';

export const CLIENT_KEY = 'X-SVC-TEE-Client-Pub-Key';
export const MODEL_KEY = 'X-SVC-TEE-Model-Pub-Key';
export const ALGORITHM = 'X-SVC-TEE-Signing-Algo';

const NAMES = [CLIENT_KEY, MODEL_KEY, ALGORITHM] as const;

const BY_NAME = NAMES.map((name) => [name, name.toLowerCase()] as const);

/** The headers that demand encryption, as sent. */
export type EncryptionHeaders = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

/** Undefined if a request has none of them. */
export function encryptionHeaders(headers: IncomingHttpHeaders): EncryptionHeaders | undefined {
  let found: Partial<Record<(typeof NAMES)[number], string>> | undefined;
  for (const [name, lowerCase] of BY_NAME) {
    const value = headers[lowerCase];
    if (value !== undefined) (found ??= {})[name] = value.toString();
  }
  return found;
}

/** The error for headers that demand encryption and are not as they must be. */
export function faultyHeaders(fault: string): Problem {
  return new Problem('INVALID_REQUEST', { message: `Invalid E2EE headers: ${fault}` });
}
