import type { FormMember } from '../dialects/dialect.js';

const LINE = '\r\n';

/** The bytes of a form; those of files are not copied. */
export function formBody(members: readonly FormMember[], boundary: string): Uint8Array[] {
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
