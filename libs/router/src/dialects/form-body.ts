import { randomUUID } from 'node:crypto';
import type { PlannedRequest } from '@svc/backend-calls';
import type { CallFile } from '@svc/contracts/inference';

const LINE = '\r\n';

/** The name and value of a member of a form. */
export type FormMember = readonly [string, string | CallFile];

/** A request with a form (RFC 7578). The bytes of files are not copied. */
export function formRequest(path: string, members: readonly FormMember[]): PlannedRequest {
  const boundary = `svc-${randomUUID()}`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return { path, headers, body: formBody(members, boundary) };
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
