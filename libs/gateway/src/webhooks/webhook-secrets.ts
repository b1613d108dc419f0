import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Problem } from '@svc/contracts/problems';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;

/** What a delivery is signed for. Source: Standard Webhooks. */
export interface SignedParts {
  readonly id: string;
  /** Unix time in seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: a signature for each secret. */
export function signatures({ id, timestamp, body }: SignedParts, secrets: readonly Buffer[]): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ');
}

/** A secret as customers see it. */
export const secretText = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

/** The secrets of endpoints, which are stored encrypted since they sign every delivery. */
export class WebhookSecrets {
  private readonly key: Buffer | undefined;
  private readonly second: Buffer | undefined;

  /** The second key is that before or after a rotation. */
  constructor(key: string | undefined, second?: string) {
    this.key = key === undefined ? undefined : derived(key);
    this.second = second === undefined ? undefined : derived(second);
  }

  get areConfigured(): boolean {
    return this.key !== undefined;
  }

  get areRotated(): boolean {
    return this.areConfigured && this.second !== undefined;
  }

  /** A new secret for an endpoint, and what is stored of it. Refuses: WEBHOOKS_NOT_CONFIGURED. */
  make(endpointId: string): { readonly secret: Buffer; readonly sealed: Buffer } {
    const secret = randomBytes(SECRET_BYTES);
    return { secret, sealed: this.seal(secret, endpointId) };
  }

  /** Throws if it was stored with another key, or for another endpoint. */
  open(sealed: Buffer, endpointId: string): Buffer {
    const key = this.configured();
    if (!this.second) return opened(sealed, endpointId, key);
    try {
      return opened(sealed, endpointId, key);
    } catch {
      return opened(sealed, endpointId, this.second);
    }
  }

  /** Encrypts again, with the first key. */
  sealAgain(sealed: Buffer, endpointId: string): Buffer {
    return this.seal(this.open(sealed, endpointId), endpointId);
  }

  private seal(secret: Buffer, endpointId: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.configured(), iv).setAAD(Buffer.from(endpointId));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  private configured(): Buffer {
    if (!this.key) throw new Problem('WEBHOOKS_NOT_CONFIGURED');
    return this.key;
  }
}

const derived = (key: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'webhook secrets', 32));

function opened(sealed: Buffer, endpointId: string, key: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(endpointId));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}
