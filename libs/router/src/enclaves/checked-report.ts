import { ECDH, hash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { EnclaveReport } from '@svc/contracts/messages';
import type { TeeBackend } from '@svc/contracts/catalog';
import type { BackendReport } from '../dialect/dialect.js';
import { readQuote } from './tdx-quote.js';

const ADDRESS_BYTES = 20;
/** Where the nonce begins in the data of a quote. */
const NONCE_AT = 32;

/**
 * The report of a backend for this nonce. Throws if its quote does not contain the nonce and the address of
 * its key, or does not satisfy the operator's demands.
 */
export function checkedReport(
  report: BackendReport,
  { nonce, tee }: { readonly nonce: string; readonly tee: TeeBackend },
): EnclaveReport {
  const { quote: text, publicKey: given, simulated = false, ...others } = report;
  const quote = readQuote(text);
  const publicKey = uncompressed(given);
  const address = Buffer.from(keccak_256(Buffer.from(publicKey, 'hex').subarray(1)).subarray(-ADDRESS_BYTES));
  if (!quote.reportData.subarray(0, ADDRESS_BYTES).equals(address))
    throw new Error('the quote has the address of another key');
  const checked: EnclaveReport = {
    ...others,
    nonce,
    publicKey,
    address: `0x${address.toString('hex')}`,
    quote: quote.hex,
    nonceMethod: nonceMethod(quote.reportData.toString('hex', NONCE_AT), nonce),
    isDebug: quote.isDebug,
    isSimulated: simulated || quote.vendor.startsWith('SIMULATED'),
    isMeasured: tee.measurements !== undefined,
    measurements: quote.measurements,
  };
  const fault = unaccepted(checked, tee);
  if (fault !== undefined) throw new Error(fault);
  return checked;
}

/** Why an enclave is not accepted, if so. */
export function unaccepted(
  { isDebug, isSimulated, measurements: found }: EnclaveReport,
  { accept, measurements }: TeeBackend,
): string | undefined {
  if (accept === 'hardware' && isSimulated) return 'the enclave is simulated';
  if (accept === 'hardware' && isDebug) return 'the enclave is in debug mode';
  const isListed = measurements?.some((listed) =>
    (['mrtd', 'rtmr0', 'rtmr1', 'rtmr2', 'rtmr3'] as const).every(
      (name) => (listed[name] ?? found[name]) === found[name],
    ),
  );
  return isListed === false ? 'the enclave runs software that the catalogue does not list' : undefined;
}

function nonceMethod(found: string, nonce: string): EnclaveReport['nonceMethod'] {
  if (found === nonce) return 'raw';
  if (found === hash('sha256', Buffer.from(nonce, 'hex'))) return 'sha256';
  throw new Error('the quote has another nonce');
}

/** Servers leave out the first byte, which says that the key is uncompressed. Throws for any other key. */
function uncompressed(text: string): string {
  const digits = text.replace(/^0x/, '').toLowerCase();
  const key = digits.length === 128 ? `04${digits}` : digits;
  return String(ECDH.convertKey(key, 'secp256k1', 'hex', 'hex', 'uncompressed'));
}
