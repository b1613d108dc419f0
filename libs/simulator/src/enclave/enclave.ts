import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { LRUCache } from 'lru-cache';
import { isPoint, signRecoverable } from 'tiny-secp256k1';
import { ApiError, invalidRequest } from '../http/api-error.js';
import { EncryptedExchange } from './encrypted-exchange.js';
import { newKeyPair } from './ciphertext.js';
import { simulatedQuote } from './simulated-quote.js';

const NONCE = /^[0-9a-f]{64}$/i;
const PUBLIC_KEY = /^(?:0x)?(?:04)?([0-9a-f]{128})$/i;
const SIGNATURES_KEPT = 1_000;
const SIGNATURES_MS = 1_200_000;

const WARNING = 'This is a simulator. It protects nothing: whoever runs it can read everything.';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/**
 * Behaves like an enclave behind vllm-proxy, and protects nothing. Its key pair is drawn at the start and
 * never leaves the memory.
 */
export class SimulatedEnclave {
  private readonly pair = newKeyPair();
  private readonly address = keccak_256(this.pair.publicKey.subarray(1)).subarray(12);
  /** The signed texts, by the id of the completion. */
  private readonly signed = new LRUCache<string, string>({ max: SIGNATURES_KEPT, ttl: SIGNATURES_MS });

  constructor(private readonly isLookalike: boolean) {}

  /** Without a nonce one is drawn. Throws an `ApiError` of status 400 for anything but 32 bytes in hex. */
  report(model: string, nonce = hexOf(randomBytes(32))): object {
    if (!NONCE.test(nonce)) throw new ApiError(400, 'Nonce must be 32 bytes in hex');
    const report = {
      model_name: model,
      signing_address: this.signingAddress,
      signing_algo: 'ecdsa',
      signing_public_key: hexOf(this.pair.publicKey.subarray(1)),
      request_nonce: nonce.toLowerCase(),
      intel_quote: simulatedQuote(this.address, Buffer.from(nonce, 'hex'), this.isLookalike),
      event_log: [],
      info: {},
      tee_provider: 'simulator',
      tee_hardware: 'none',
      simulated: true,
      warning: WARNING,
    };
    return { ...report, all_attestations: [report] };
  }

  /** The id of a completion whose texts are encrypted, as vLLM makes it from the id of the request. */
  idOf(headers: IncomingHttpHeaders): string | undefined {
    const { 'x-request-id': id } = headers;
    return isEncrypted(headers) && typeof id === 'string' ? `chatcmpl-${id}` : undefined;
  }

  /**
   * The keys of a request whose texts are encrypted; undefined for any other. Throws an `ApiError` of status
   * 400.
   */
  exchangeFor(id: string, headers: IncomingHttpHeaders): EncryptedExchange | undefined {
    if (!isEncrypted(headers)) return undefined;
    const { 'x-signing-algo': algorithm, 'x-client-pub-key': key } = headers;
    if (algorithm !== 'ecdsa') throw invalidRequest('X-Signing-Algo must be ecdsa');
    const digits = typeof key === 'string' ? PUBLIC_KEY.exec(key)?.[1] : undefined;
    const clientKey = Buffer.from(`04${digits ?? ''}`, 'hex');
    if (!isPoint(clientKey)) throw invalidRequest('Invalid public key');
    const keep = (text: string): void => void this.signed.set(id, text);
    return new EncryptedExchange({ secret: this.pair.secret, clientKey }, keep);
  }

  /** Throws an `ApiError` of status 404 if the completion is unknown. */
  signature(id: string): object {
    const text = this.signed.get(id);
    if (text === undefined) throw new ApiError(404, 'Chat id not found or expired');
    return {
      text,
      text_covers: 'fields',
      signature: this.sign(text),
      signing_address: this.signingAddress,
      signing_algo: 'ecdsa',
    };
  }

  private get signingAddress(): string {
    return `0x${hexOf(this.address)}`;
  }

  /** By EIP-191, as `personal_sign` of wallets. */
  private sign(text: string): string {
    const bytes = Buffer.from(text);
    const prefix = Buffer.from(`\u0019Ethereum Signed Message:\n${bytes.length}`);
    const { signature, recoveryId } = signRecoverable(
      keccak_256(Buffer.concat([prefix, bytes])),
      this.pair.secret,
    );
    return `0x${hexOf(signature)}${(recoveryId + 27).toString(16)}`;
  }
}

function isEncrypted(headers: IncomingHttpHeaders): boolean {
  return headers['x-client-pub-key'] !== undefined || headers['x-signing-algo'] !== undefined;
}
