const HEADER_BYTES = 48;
const BODY_BYTES = 584;
/** The length of a signature, which is zero: nothing signs this quote. */
const SIGNATURE_LENGTH_BYTES = 4;

/** Where fields begin. Source: Intel's format of TDX quotes, version 4. */
const VENDOR_AT = 12;
const ATTRIBUTES_AT = HEADER_BYTES + 120;
const MRTD_AT = HEADER_BYTES + 136;
const REPORT_DATA_AT = HEADER_BYTES + 520;
const NONCE_AT = REPORT_DATA_AT + 32;

const VERSION = 4;
const ECDSA_P256 = 2;
const TDX = 0x81;
const DEBUG = 1;

/**
 * A quote of the shape of a TDX quote, so that parsers run, which says what it is: its vendor and its
 * measurement are words, it has no signature, and its debug bit is set. A look-alike has no debug bit, for
 * tests of clients that refuse it.
 */
export function simulatedQuote(address: Uint8Array, nonce: Uint8Array, isLookalike: boolean): string {
  const quote = Buffer.alloc(HEADER_BYTES + BODY_BYTES + SIGNATURE_LENGTH_BYTES);
  quote.writeUInt16LE(VERSION, 0);
  quote.writeUInt16LE(ECDSA_P256, 2);
  quote.writeUInt32LE(TDX, 4);
  quote.write('SIMULATED NO TEE', VENDOR_AT, 'ascii');
  quote.writeUInt8(isLookalike ? 0 : DEBUG, ATTRIBUTES_AT);
  quote.write('SIMULATED NOT A TEE, PROTECTS NOTHING', MRTD_AT, 'ascii');
  quote.set(address, REPORT_DATA_AT);
  quote.set(nonce, NONCE_AT);
  return quote.toString('hex');
}
