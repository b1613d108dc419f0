import type { CallKind, ImageWork } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { formWriter } from '../dialects/form-body.js';
import type { Passing } from './call-body.js';
import type { CallMode } from './call-mode.js';

interface SentImageCall extends Pick<CallMode<never>, 'contentType' | 'body'> {
  /** The most images that it makes. */
  readonly count: number;
}

type MakeWork = Extract<ImageWork, { kind: 'image' }>;
type EditWork = Extract<ImageWork, { kind: 'image-edit' }>;
type ChangeWork = Extract<ImageWork, { kind: 'image-upscale' | 'image-cutout' }>;

/** Whether the response to calls of a kind is images. */
export const isImageCall = (kind: CallKind): kind is Extract<CallKind, `image${string}`> =>
  kind.startsWith('image');

/** How an order or a change of images is sent. */
export function imageCall(work: ImageWork, pass: Passing): SentImageCall {
  if (work.kind === 'image-edit') return editCall(work, pass);
  if (work.kind === 'image') return makeCall(work, pass);
  return work.kind === 'image-upscale' ? upscaleCall(work) : cutoutCall(work);
}

function makeCall({ order }: MakeWork, pass: Passing): SentImageCall {
  return {
    count: order.count,
    body: (live) => live.dialect.imageBody(live.backend, { ...order, others: pass(order.others, live) }),
  };
}

function editCall({ order: edit, files }: EditWork, pass: Passing): SentImageCall {
  const mask = edit.masked ? files.at(-1) : undefined;
  const images = mask ? files.slice(0, -1) : files;
  if (images.length === 0) throw incomplete('images');
  const form = formWriter();
  return {
    count: edit.count,
    contentType: form.contentType,
    body: (live) => {
      const { dialect, backend } = live;
      const imaged = mask ? { images, mask } : { images };
      const passed = { ...edit, others: pass(edit.others, live) };
      return form.body(dialect.imageEditForm(backend.model, passed, imaged));
    },
  };
}

function upscaleCall({ order: { count, factor }, files: [image] }: ChangeWork): SentImageCall {
  if (!image || factor === undefined) throw incomplete(image ? 'factor' : 'image');
  return { count, body: ({ backend, dialect }) => dialect.upscaleBody(backend.model, image, factor) };
}

function cutoutCall({ order: { count }, files: [image] }: ChangeWork): SentImageCall {
  if (!image) throw incomplete('image');
  const form = formWriter();
  return {
    count,
    contentType: form.contentType,
    body: ({ backend, dialect }) => form.body(dialect.cutoutForm(backend.model, image)),
  };
}

const incomplete = (part: string): Problem =>
  new Problem('INVALID_REQUEST', { cause: new TypeError(`the call has no ${part}`) });
