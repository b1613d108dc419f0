import { randomUUID } from 'node:crypto';
import type { FormMember } from './dialect.js';

const LINE = '\r\n';

/** How the forms of a call are written. */
export interface FormWriter {
  readonly contentType: string;
  /** The bytes of a form; those of files are not copied. */
  readonly body: (members: readonly FormMember[]) => Uint8Array[];
}

/** A form (RFC 7578). */
export function formWriter(): FormWriter {
  const boundary = `svc-${randomUUID()}`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: (members) => formBody(members, boundary),
  };
}

function formBody(members: readonly FormMember[], boundary: string): Uint8Array[] {
  const body = members.flatMap(([name, value]): Uint8Array[] => {
    const head = `--${boundary}${LINE}content-disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === 'string') return [Buffer.from(`${head}${LINE}${LINE}${value}${LINE}`)];
    const file = `${head}; filename="${quoted(value.name)}"${LINE}content-type: ${value.type}${LINE}${LINE}`;
    return [Buffer.from(file), value.bytes, Buffer.from(LINE)];
  });
  body.push(Buffer.from(`--${boundary}--${LINE}`));
  return body;
}

/** As browsers write names. */
const quoted = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
