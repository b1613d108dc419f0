import { ImageEdit, type InferenceCall, ImageOrder, Problem } from '@svc/contracts';
import { formWriter } from '../dialects/form-body.js';
import { readCallBody } from './call-body.js';
import type { CallMode } from './call-mode.js';

interface ImageCall extends Pick<CallMode<never>, 'contentType' | 'body'> {
  /** The most images that it makes. */
  readonly count: number;
}

/** How an order or an edit is sent. */
export function imageCall({ kind, body, files = [] }: InferenceCall): ImageCall {
  if (kind !== 'image-edit') {
    const order = readCallBody(ImageOrder, body);
    return { count: order.count, body: ({ backend, dialect }) => dialect.imageBody(backend.model, order) };
  }
  const edit = readCallBody(ImageEdit, body);
  const mask = edit.masked ? files.at(-1) : undefined;
  const pictures = mask ? files.slice(0, -1) : files;
  if (pictures.length === 0)
    throw new Problem('INVALID_REQUEST', { cause: new TypeError('the call has no pictures') });
  const form = formWriter();
  return {
    count: edit.count,
    contentType: form.contentType,
    body: ({ backend, dialect }) =>
      form.body(dialect.imageEditForm(backend.model, edit, mask ? { pictures, mask } : { pictures })),
  };
}
