import { Injectable } from '@nestjs/common';
import { ImageOrders, type ImageWork } from '@svc/contracts/inference';
import type { ChargeLine } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { type ConvertedImage, ImageRejected, Images } from '@svc/media';
import { RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { type Performed } from '@svc/paid/paid';
import type { ImageOffer } from './image-plan.js';
import type { ImageSize } from './image-size.js';

/** Images that were checked, at least one. */
export interface CheckedImages {
  readonly files: readonly ConvertedImage[];
  readonly backend: string;
  /** Calls that failed before the response. */
  readonly retries: number;
  readonly inferenceMs: number;
}

/** What is ordered from a backend. */
export interface BackendOrder {
  readonly work: ImageWork;
  /** Smaller images are faulty. */
  readonly atLeast?: ImageSize;
  /** The price, if it depends on the image that it starts from; at most that of the sale. */
  readonly lines?: (images: number) => ChargeLine[];
}

/** An order of images. Only the name of its model matters here. */
type OrderedImages = Omit<ImageOffer, 'sale'> & BackendOrder & { readonly sale: { readonly name: string } };

interface ImageCaller {
  readonly requestId: string;
  readonly accountId: string;
}

/** Has images made, and checks each of them before it is sold. */
@Injectable()
export class ImageMaker {
  constructor(
    private readonly backends: ImageOrders,
    private readonly images: Images,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Images that are missing or faulty are ordered once more. If some are still missing then, the others are
   * delivered. The signal ends calls, but not the check of images that have arrived, which are charged.
   * Refuses the same as the router, and UNAVAILABLE while too many images are being checked.
   */
  async make(
    plan: OrderedImages,
    caller: ImageCaller,
    signal: AbortSignal,
  ): Promise<Performed<CheckedImages>> {
    const { work } = plan;
    const first = await this.delivered(plan, work, { caller, signal });
    const missing = work.order.count - first.files.length;
    const isShort = missing > 0 && !signal.aborted;
    const second = isShort
      ? await this.remainder(plan, { ...first, missing }, { caller, signal })
      : undefined;
    const files = [...first.files, ...(second?.files ?? [])];
    if (files.length === 0)
      throw new Problem('INFERENCE_FAILED', { cause: new Error('the backend makes no usable images') });
    const { backend } = first.files.length > 0 || !second ? first : second;
    const retries = first.retries + (second?.retries ?? 0);
    return {
      result: {
        files,
        backend,
        retries,
        inferenceMs: first.inferenceMs + (second?.inferenceMs ?? 0),
      },
      backend,
      retries,
      lines: plan.lines(files.length),
    };
  }

  /** A failure is only passed on if there is nothing to deliver. */
  private async remainder(
    plan: OrderedImages,
    { files, missing }: { files: readonly ConvertedImage[]; missing: number },
    context: { caller: ImageCaller; signal: AbortSignal },
  ): Promise<CheckedImages | undefined> {
    try {
      return await this.delivered(plan, remaining(plan.work, missing), context);
    } catch (error) {
      if (files.length === 0) throw error;
      this.logger.log.warn({ err: error, requestId: context.caller.requestId }, 'some images are missing');
      return undefined;
    }
  }

  private async delivered(
    plan: OrderedImages,
    work: ImageWork,
    { caller, signal }: { caller: ImageCaller; signal: AbortSignal },
  ): Promise<CheckedImages> {
    const id = plan.sale.name;
    const startedMs = performance.now();
    const call = { ...caller, model: id, ...work };
    const { result, backend, retries } = await traced('infer', () => this.backends.make(call, signal));
    const inferenceMs = performance.now() - startedMs;
    const { images } = result;
    const checked = await traced('check images', () =>
      Promise.all(images.map((image) => this.checked(image, plan, caller))),
    );
    const files = checked.filter((file) => file !== undefined);
    const faulty = images.length - files.length;
    if (faulty > 0) {
      inference.faultyImages.add(faulty, id, backend);
      const fields = { requestId: caller.requestId, model: id, backend, faulty };
      this.logger.log.warn(fields, 'a backend made images that are broken, too small or all black');
    }
    return { files, backend, retries, inferenceMs };
  }

  /** The file of an image; `undefined` if it cannot be sold. */
  private async checked(
    image: string,
    { output, atLeast }: OrderedImages,
    { accountId }: ImageCaller,
  ): Promise<ConvertedImage | undefined> {
    try {
      const file = await this.images.convert(image, output, { account: accountId });
      const isSmall = atLeast && (file.width < atLeast.width || file.height < atLeast.height);
      return isSmall ? undefined : file;
    } catch (error) {
      if (!(error instanceof ImageRejected)) throw error;
      if (error.retryable) throw new Problem('UNAVAILABLE', { cause: error });
      return undefined;
    }
  }
}

/** The same work for the images that are missing. */
function remaining(work: ImageWork, count: number): ImageWork {
  switch (work.kind) {
    case 'image': {
      const { seed } = work.order;
      // The same seed would make the same image again.
      const next = seed === undefined ? {} : { seed: seed + work.order.count };
      return { ...work, order: { ...work.order, count, ...next } };
    }
    case 'image-edit':
      return { ...work, order: { ...work.order, count } };
    case 'image-upscale':
    case 'image-cutout':
      return { ...work, order: { ...work.order, count } };
  }
}
