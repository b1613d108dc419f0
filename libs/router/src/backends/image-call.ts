import {
  type CallKind,
  ImageEdit,
  type InferenceCall,
  ImageOrder,
  PictureChange,
} from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { formWriter } from '../dialects/form-body.js';
import { type Passing, readCallBody } from './call-body.js';
import type { CallMode } from './call-mode.js';

interface ImageCall extends Pick<CallMode<never>, 'contentType' | 'body'> {
  /** The most images that it makes. */
  readonly count: number;
}

/** Whether the response to calls of a kind is images. */
export const isImageCall = (kind: CallKind): kind is Extract<CallKind, `image${string}`> =>
  kind.startsWith('image');

/** How an order or a change of pictures is sent. */
export function imageCall(call: InferenceCall, pass: Passing): ImageCall {
  const { kind, body } = call;
  if (kind === 'image-edit') return editCall(call, pass);
  if (kind === 'image-upscale') return upscaleCall(call);
  if (kind === 'image-cutout') return cutoutCall(call);
  const order = readCallBody(ImageOrder, body);
  return {
    count: order.count,
    body: (live) => live.dialect.imageBody(live.backend, { ...order, others: pass(order.others, live) }),
  };
}

function editCall({ body, files = [] }: InferenceCall, pass: Passing): ImageCall {
  const edit = readCallBody(ImageEdit, body);
  const mask = edit.masked ? files.at(-1) : undefined;
  const pictures = mask ? files.slice(0, -1) : files;
  if (pictures.length === 0) throw incomplete('pictures');
  const form = formWriter();
  return {
    count: edit.count,
    contentType: form.contentType,
    body: (live) => {
      const { dialect, backend } = live;
      const pictured = mask ? { pictures, mask } : { pictures };
      const passed = { ...edit, others: pass(edit.others, live) };
      return form.body(dialect.imageEditForm(backend.model, passed, pictured));
    },
  };
}

function upscaleCall({ body, files: [picture] = [] }: InferenceCall): ImageCall {
  const { count, factor } = readCallBody(PictureChange, body);
  if (!picture || factor === undefined) throw incomplete(picture ? 'factor' : 'picture');
  return { count, body: ({ backend, dialect }) => dialect.upscaleBody(backend.model, picture, factor) };
}

function cutoutCall({ body, files: [picture] = [] }: InferenceCall): ImageCall {
  const { count } = readCallBody(PictureChange, body);
  if (!picture) throw incomplete('picture');
  const form = formWriter();
  return {
    count,
    contentType: form.contentType,
    body: ({ backend, dialect }) => form.body(dialect.cutoutForm(backend.model, picture)),
  };
}

const incomplete = (part: string): Problem =>
  new Problem('INVALID_REQUEST', { cause: new TypeError(`the call has no ${part}`) });
