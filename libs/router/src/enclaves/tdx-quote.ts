import type { EnclaveReport } from '@svc/contracts/messages';

const HEADER_BYTES = 48;
const BODY_BYTES = 584;
const REGISTER_BYTES = 48;

/** Where fields begin. Source: Intel's format of TDX quotes, version 4. */
const TYPE_AT = 4;
const VENDOR = [12, 28] as const;
const ATTRIBUTES_AT = HEADER_BYTES + 120;
const MRTD_AT = HEADER_BYTES + 136;
const RTMR_AT = HEADER_BYTES + 328;
const REPORT_DATA_AT = HEADER_BYTES + 520;

const TDX = 0x81;
const DEBUG = 1;

/** The parts of a quote that say what runs where. */
export interface TdxQuote {
  /** In lower-case hex. */
  readonly hex: string;
  /** 16 bytes as Latin-1. */
  readonly vendor: string;
  readonly isDebug: boolean;
  readonly measurements: EnclaveReport['measurements'];
  /** 64 bytes that the enclave chose. */
  readonly reportData: Buffer;
}

/** Reads a quote in hex or base64. Throws if it is not a whole quote of TDX. */
export function readQuote(text: string): TdxQuote {
  const digits = text.replace(/^0x/, '');
  const bytes = Buffer.from(digits, /^(?:[0-9a-f]{2})+$/i.test(digits) ? 'hex' : 'base64');
  if (bytes.length < HEADER_BYTES + BODY_BYTES) throw new Error('the quote is too short');
  if (bytes.readUInt32LE(TYPE_AT) !== TDX) throw new Error('the quote is not one of TDX');
  const register = (at: number): string => bytes.toString('hex', at, at + REGISTER_BYTES);
  return {
    hex: bytes.toString('hex'),
    vendor: bytes.toString('latin1', ...VENDOR),
    isDebug: (bytes.readUInt8(ATTRIBUTES_AT) & DEBUG) !== 0,
    measurements: {
      mrtd: register(MRTD_AT),
      rtmr0: register(RTMR_AT),
      rtmr1: register(RTMR_AT + REGISTER_BYTES),
      rtmr2: register(RTMR_AT + 2 * REGISTER_BYTES),
      rtmr3: register(RTMR_AT + 3 * REGISTER_BYTES),
    },
    reportData: bytes.subarray(REPORT_DATA_AT, HEADER_BYTES + BODY_BYTES),
  };
}
