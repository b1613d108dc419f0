/** A key on secp256k1 (65 bytes), a nonce (12) and a tag (16), around the text in UTF-8. */
const AROUND_TEXT_BYTES = 93;

/** A text of pairs of hex digits. Without a quantifier, so that a long text needs no stack. */
export const isHex = (text: string): boolean => text.length % 2 === 0 && !/[^0-9a-f]/i.test(text);

/** Whether a text has the form of a ciphertext in hex. The key is uncompressed, so its first byte is 4. */
export function isCiphertext(text: string): boolean {
  return text.length >= 2 * AROUND_TEXT_BYTES && text.startsWith('04') && isHex(text);
}

/** The bytes of the text that a ciphertext contains; those of a plain text. */
export function plainBytes(text: string): number {
  return isCiphertext(text) ? text.length / 2 - AROUND_TEXT_BYTES : Buffer.byteLength(text);
}
