import { invalidRequest } from './api-error.js';

export interface SimulatedPart {
  readonly name: string;
  /** Of a file only. */
  readonly type: string | undefined;
  readonly content: Buffer;
}

/** Enough of a form's syntax for a test server. */
export function partsOf(body: Buffer, contentType: string): SimulatedPart[] {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1];
  if (boundary === undefined) throw invalidRequest('The body must be a form.');
  const pieces = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return pieces.map((piece) => {
    const end = piece.indexOf('\r\n\r\n');
    const head = piece.slice(0, end);
    return {
      name: /name="([^"]*)"/.exec(head)?.[1] ?? '',
      type: /content-type: *([^\r\n;]+)/i.exec(head)?.[1],
      content: Buffer.from(piece.slice(end + 4, -2), 'latin1'),
    };
  });
}
