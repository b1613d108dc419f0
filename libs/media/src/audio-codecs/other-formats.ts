import { Unreadable } from '@svc/threads';
import { ambiguous } from './audio-terms.js';

/** Where FFmpeg has decided on a format: with our tag before it, it sees less of an MP3 at first. */
const LOOKED_AT_BYTES = 65_536;

/** Marks of formats that decoders find anywhere, and their least number: chance makes short ones. */
const MARKS: readonly (readonly [name: string, hex: string, count: number])[] = [
  ['NUT', '4e4d7a561f5f04ad', 1],
  ['MXF', '060e2b34020501010d010201', 1],
  ['NSV', '4e535673', 2],
  ['an MPEG program stream', '000001ba', 2],
  ['S/PDIF', '72f81f4e', 2],
  ['S/PDIF', 'f8724e1f', 2],
];

/** Bytes of a packet of an MPEG transport stream: plain, with a time, and with a correction of errors. */
const PACKET_BYTES = [188, 192, 204] as const;
const SYNC = 0x47;
const EMPTY_PACKET = 0x1f_ff;

/** A quarter of the packets is far more than chance, and less than decoders want. */
const PACKETS_PER_SYNC = 4;

/**
 * Refuses audio that also looks like a file of another format. Only MP3 needs this: it begins with the
 * caller's bytes, whatever is put before them.
 */
export function refuseOtherFormats(bytes: Buffer): void {
  const start = bytes.subarray(0, LOOKED_AT_BYTES);
  for (const [name, hex, count] of MARKS) {
    const mark = Buffer.from(hex, 'hex');
    let found = 0;
    for (let at = start.indexOf(mark); at !== -1; at = start.indexOf(mark, at + 1)) found += 1;
    if (found >= count) throw new Unreadable(ambiguous(`it may also be ${name}`));
  }
  for (let size = 4_096; size <= LOOKED_AT_BYTES; size *= 2)
    if (PACKET_BYTES.some((packet) => isTransportStream(bytes.subarray(0, size), packet)))
      throw new Unreadable(ambiguous('it may also be an MPEG transport stream'));
}

/** Whether heads of packets are this number of bytes from each other. */
function isTransportStream(bytes: Buffer, packet: number): boolean {
  const heads = new Uint32Array(packet);
  let most = 0;
  for (let at = bytes.indexOf(SYNC); at !== -1 && at + 4 <= bytes.length; at = bytes.indexOf(SYNC, at + 1)) {
    const isEmpty = (bytes.readUInt16BE(at + 1) & 0x1f_ff) === EMPTY_PACKET;
    const hasContent = ((bytes[at + 3] ?? 0) & 0x30) !== 0;
    const phase = at % packet;
    if (isEmpty || hasContent) most = Math.max(most, (heads[phase] = (heads[phase] ?? 0) + 1));
  }
  return bytes.length >= packet * 8 && most > bytes.length / packet / PACKETS_PER_SYNC;
}
