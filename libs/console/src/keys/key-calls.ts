import type { ApiKeyView } from '@svc/api/keys';
import { call } from '../api/client.js';
import { withProof } from '../shell/proof.js';
import type { KeyFormTerms } from './key-form.js';

type KeyType = ApiKeyView['apiKeyType'];

/** Creates a key and returns its secret. */
export async function createKey(terms: KeyFormTerms, apiKeyType: KeyType): Promise<string> {
  const { maxCostPerRequest, requestsPerMinute, tokensPerMinute, requestsPerDay, tokensPerDay, ...others } =
    terms;
  const body = {
    ...others,
    apiKeyType,
    ...(maxCostPerRequest === null ? {} : { maxCostPerRequest }),
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
    ...(requestsPerDay === null ? {} : { requestsPerDay }),
    ...(tokensPerDay === null ? {} : { tokensPerDay }),
  };
  const { data } = await withProof(() => call('POST', '/api/v1/api_keys', { body }));
  return data.apiKey;
}

export async function changeKey(id: string, terms: Partial<KeyFormTerms>): Promise<void> {
  await withProof(() => call('PATCH', '/api/v1/api_keys', { body: { id, ...terms } }));
}

export async function revokeKey(id: string): Promise<void> {
  await call('DELETE', '/api/v1/api_keys', { query: { id } });
}

/** Gives a key a new secret and returns it. The earlier one works for `overlapSeconds` more. */
export async function rotateKey(id: string, overlapSeconds: number): Promise<string> {
  const { data } = await withProof(() =>
    call('POST', '/api/v1/api_keys/:id/rotate', { params: { id }, body: { overlapSeconds } }),
  );
  return data.apiKey;
}
