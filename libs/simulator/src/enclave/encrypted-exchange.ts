import { hash } from 'node:crypto';
import { invalidRequest } from '../http/api-error.js';
import { isObject, parseJson } from '../request/chat-request.js';
import { open, seal } from './ciphertext.js';

/** Members of a message that are encrypted. */
const TEXTS = ['content', 'reasoning_content', 'reasoning'];

/** A request whose texts are encrypted, and its response. */
export class EncryptedExchange {
  /** The ciphertexts of the messages, and those of the response, in their order. */
  private readonly received: string[] = [];
  private readonly sent: string[] = [];

  /** `keep` gets the text to sign about a response that was sent completely. */
  constructor(
    private readonly keys: { readonly secret: Uint8Array; readonly clientKey: Uint8Array },
    private readonly keep: (text: string) => void,
  ) {}

  /**
   * The body of the request in plaintext. Throws an `ApiError` of status 400, with one text for all causes,
   * which must not help to guess a key.
   */
  opened(text: string): string {
    const body = parseJson(text);
    if (body['stream'] !== true) throw invalidRequest('E2EE requires streaming', 'stream');
    const { messages } = body;
    if (!Array.isArray(messages)) return text;
    return JSON.stringify({ ...body, messages: messages.map((message: unknown) => this.openedOne(message)) });
  }

  seal(text: string): string {
    const ciphertext = seal(text, this.keys.clientKey);
    if (ciphertext !== '') this.sent.push(ciphertext);
    return ciphertext;
  }

  /** Covers the ciphertexts alone, which a gateway passes on while it writes the rest of the JSON again. */
  sign(): void {
    this.keep(`${hashOf(this.received)}:${hashOf(this.sent)}`);
  }

  private openedOne(message: unknown): unknown {
    if (!isObject(message)) return message;
    const opened: Record<string, unknown> = { ...message };
    for (const name of TEXTS) {
      const { [name]: ciphertext } = message;
      if (typeof ciphertext !== 'string' || ciphertext === '') continue;
      if (name === 'content') this.received.push(ciphertext);
      try {
        opened[name] = open(ciphertext, this.keys.secret);
      } catch {
        throw invalidRequest('Failed to decrypt field', 'messages');
      }
    }
    return opened;
  }
}

/** The hash that stands for a list of ciphertexts. */
function hashOf(ciphertexts: readonly string[]): string {
  return hash('sha256', ciphertexts.join('\n'));
}
