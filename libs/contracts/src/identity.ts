/** Who asks: an account, by one of its keys. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly tier: 'standard' | 'partner';
  /** Whether models for paid accounts may be used. */
  readonly paid: boolean;
  readonly keyType: 'INFERENCE' | 'ADMIN';
}

/** What the secret of a key starts with. */
export const KEY_PREFIX = { INFERENCE: 'SVC_INFERENCE_KEY_', ADMIN: 'SVC_ADMIN_KEY_' } as const;
