import { crc32 } from 'node:zlib';

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const headerOf = ([name, value]: readonly [string, string]): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
};

/** A message of `application/vnd.amazon.eventstream` with these bytes as headers. */
export function framed(headers: Buffer, payload = ''): Buffer {
  const body = Buffer.from(payload);
  const prelude = Buffer.concat([u32(16 + headers.length + body.length), u32(headers.length)]);
  const start = Buffer.concat([prelude, u32(crc32(prelude)), headers, body]);
  return Buffer.concat([start, u32(crc32(start))]);
}

/** The same with these headers. */
export const frameOf = (headers: Readonly<Record<string, string>>, payload: string): Buffer =>
  framed(Buffer.concat(Object.entries(headers).map(headerOf)), payload);

/** An event of Bedrock. */
export const bedrockEvent = (type: string, payload: object): Buffer =>
  frameOf(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(payload),
  );

/** A failure within a stream of Bedrock. */
export const bedrockException = (type: string, message: string): Buffer =>
  frameOf(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );
