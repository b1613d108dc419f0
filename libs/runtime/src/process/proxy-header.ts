import { isIPv4, isIPv6 } from 'node:net';

/** A header of the PROXY protocol, by which a TCP proxy names the client of a connection. */
export interface ProxyHeader {
  /** The header's length. The bytes after it are the client's. */
  readonly bytes: number;
  /** The client's address; absent for connections of the proxy itself, such as health checks. */
  readonly address: string | undefined;
}

/** Source of the constants: haproxy.org, "The PROXY protocol", versions 1 and 2. */
const SIGNATURE_V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const FIXED_BYTES_V2 = 16;
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;
const MAX_BYTES_V1 = 107;
/** Addresses and extensions. Proxies in use send less than 300 bytes. */
const MAX_BYTES_V2 = 2_048;

/**
 * Parses the beginning of a connection. `undefined` while more bytes are needed. Throws SyntaxError on
 * anything but a header.
 */
export function readProxyHeader(received: Buffer): ProxyHeader | undefined {
  const common = Math.min(received.length, SIGNATURE_V2.length);
  if (received.subarray(0, common).equals(SIGNATURE_V2.subarray(0, common)))
    return received.length < FIXED_BYTES_V2 ? undefined : readV2(received);
  return readV1(received);
}

function readV2(received: Buffer): ProxyHeader | undefined {
  const length = received.readUInt16BE(14);
  const bytes = FIXED_BYTES_V2 + length;
  if (bytes > MAX_BYTES_V2) throw new SyntaxError('the PROXY header is too long');
  if (received.length < bytes) return undefined;
  const [command, family] = [received[12], received[13]];
  if (command === LOCAL) return { bytes, address: undefined };
  const from = received.subarray(FIXED_BYTES_V2, bytes);
  if (command === PROXY && family === TCP4 && length >= 12)
    return { bytes, address: from.subarray(0, 4).join('.') };
  if (command === PROXY && family === TCP6 && length >= 36) {
    const groups = Array.from({ length: 8 }, (_, at) => from.readUInt16BE(2 * at).toString(16));
    return { bytes, address: groups.join(':') };
  }
  throw new SyntaxError('the PROXY header is not of a TCP connection');
}

function readV1(received: Buffer): ProxyHeader | undefined {
  const text = received.toString('latin1', 0, MAX_BYTES_V1);
  const end = text.indexOf('\r\n');
  if (end === -1) {
    if (text.length < MAX_BYTES_V1 && isBeginningOfV1(text)) return undefined;
    throw new SyntaxError('the connection does not begin with a PROXY header');
  }
  const bytes = end + 2;
  const [name, family, address = '', to = '', ...ports] = text.slice(0, end).split(' ');
  if (name === 'PROXY' && family === 'UNKNOWN') return { bytes, address: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  if (
    name !== 'PROXY' ||
    !isAddress?.(address) ||
    !isAddress(to) ||
    ports.length !== 2 ||
    !ports.every(isPort)
  )
    throw new SyntaxError('the PROXY header is malformed');
  return { bytes, address };
}

const isBeginningOfV1 = (text: string): boolean => 'PROXY '.startsWith(text.slice(0, 6));

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
