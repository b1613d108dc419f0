import type { PlannedRequest } from '@svc/backend-calls';
import type { Backend } from '@svc/contracts/catalog';
import type { CallFile, ImageEdit, ImageWork } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { EditedFiles, ImagesDialect } from '../dialect/dialect.js';
import type { Passing } from './call-body.js';

/** How a request for images is written for a backend; `undefined` if its dialect does not have it. */
type ImageRequests = (images: ImagesDialect, backend: Backend) => (() => PlannedRequest) | undefined;

/** Throws INVALID_REQUEST without an image to change. */
export function imageRequests(work: ImageWork, pass: Passing): ImageRequests {
  switch (work.kind) {
    case 'image': {
      const { order } = work;
      return ({ make }, backend) =>
        make && (() => make.request(backend, { ...order, others: pass(order.others, make) }));
    }
    case 'image-edit': {
      const { order } = work;
      const files = editedFiles(order, work.files);
      return ({ edit }, { model }) =>
        edit && (() => edit.request(model, { ...order, others: pass(order.others, edit) }, files));
    }
    case 'image-upscale': {
      const image = onlyFile(work.files);
      const { factor } = work.order;
      if (factor === undefined) throw incomplete('factor');
      return ({ upscale }, { model }) => upscale && (() => upscale(model, image, factor));
    }
    case 'image-cutout': {
      const image = onlyFile(work.files);
      return ({ cutout }, { model }) => cutout && (() => cutout(model, image));
    }
  }
}

function editedFiles({ masked }: ImageEdit, files: readonly CallFile[]): EditedFiles {
  const mask = masked ? files.at(-1) : undefined;
  const images = mask ? files.slice(0, -1) : files;
  if (images.length === 0) throw incomplete('images');
  return mask ? { images, mask } : { images };
}

function onlyFile([image]: readonly CallFile[]): CallFile {
  if (!image) throw incomplete('image');
  return image;
}

const incomplete = (part: string): Problem =>
  new Problem('INVALID_REQUEST', { cause: new TypeError(`the call has no ${part}`) });
