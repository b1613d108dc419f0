import { type ECDH, createCipheriv, createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { ENCRYPTED_MODEL } from './enclaves.js';

function newPair(): ECDH {
  const pair = createECDH('secp256k1');
  pair.generateKeys();
  return pair;
}

function sharedKey(pair: ECDH, publicKey: Uint8Array): Buffer {
  return Buffer.from(
    hkdfSync('sha256', pair.computeSecret(publicKey), Buffer.alloc(0), 'ecdsa_encryption', 32),
  );
}

/** The two sides of encrypted completions, as a client has them. */
export class EncryptionSession {
  private readonly pair = newPair();

  /** The key of an enclave: 130 hex digits. */
  constructor(readonly modelKey: string) {}

  /** A session with the key that a simulator reports. */
  static async with({ url }: { readonly url: string }): Promise<EncryptionSession> {
    const report = (await (await fetch(`${url}/v1/attestation/report`)).json()) as {
      signing_public_key: string;
    };
    return new EncryptionSession(`04${report.signing_public_key}`);
  }

  get headers(): Record<string, string> {
    return {
      'x-svc-tee-client-pub-key': this.pair.getPublicKey('hex'),
      'x-svc-tee-model-pub-key': this.modelKey,
      'x-svc-tee-signing-algo': 'ecdsa',
    };
  }

  seal(text: string): string {
    const own = newPair();
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', sharedKey(own, Buffer.from(this.modelKey, 'hex')), nonce);
    const parts = [
      own.getPublicKey(),
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ];
    return Buffer.concat(parts).toString('hex');
  }

  /** Throws for anything but a ciphertext for this client. */
  open(hex: string): string {
    const bytes = Buffer.from(hex, 'hex');
    const key = sharedKey(this.pair, bytes.subarray(0, 65));
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(65, 77));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(77, -16)), decipher.final()]).toString();
  }

  /** The body of a streamed chat in which the user says these texts. */
  chat(texts: readonly string[], rest: object = {}): EncryptedChat {
    const messages = texts.map((text) => ({ role: 'user', content: this.seal(text) }));
    return { model: ENCRYPTED_MODEL.id, stream: true, messages, ...rest };
  }
}

interface EncryptedChat {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}
