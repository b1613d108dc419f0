import { Injectable } from '@nestjs/common';
import {
  type CallFile,
  type CallKind,
  type ImageEdit,
  type ImageOrder,
  InferenceRouter,
  MadeImages,
  type PictureChange,
} from '@svc/contracts/inference';
import type { ChargeLine } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { type ConvertedImage, ImageRejected, Images } from '@svc/media';
import { RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { type Performed } from '@svc/paid/paid';
import type { ImageOffer } from './image-plan.js';
import type { ImageSize } from './image-size.js';

/** Images that were checked, at least one. */
export interface Pictures {
  readonly files: readonly ConvertedImage[];
  readonly backend: string;
  /** Calls that failed before the response. */
  readonly retries: number;
  readonly inferenceMs: number;
}

/** What is ordered from a backend. */
export interface PictureOrder {
  readonly kind: Extract<CallKind, `image${string}`>;
  readonly order: ImageOrder | ImageEdit | PictureChange;
  /** The pictures that it starts from. */
  readonly files?: readonly CallFile[];
  /** Smaller images are faulty. */
  readonly atLeast?: ImageSize;
  /** The price, if it depends on the picture that it starts from; at most that of the sale. */
  readonly lines?: (images: number) => ChargeLine[];
}

/** An order of images. Only the name of its model matters here. */
type OrderedImages = Omit<ImageOffer, 'sale'> & PictureOrder & { readonly sale: { readonly name: string } };

interface ImageCaller {
  readonly requestId: string;
  readonly accountId: string;
}

/** Has images made, and checks each of them before it is sold. */
@Injectable()
export class ImageMaker {
  constructor(
    private readonly router: InferenceRouter,
    private readonly images: Images,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Images that are missing or faulty are ordered once more. If some are still missing then, the others are
   * delivered. The signal ends calls, but not the check of images that have arrived, which are charged.
   * Refuses the same as the router, and UNAVAILABLE while too many images are being checked.
   */
  async make(plan: OrderedImages, caller: ImageCaller, signal: AbortSignal): Promise<Performed<Pictures>> {
    const { order } = plan;
    const first = await this.delivered(plan, order, { caller, signal });
    const missing = order.count - first.files.length;
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
  ): Promise<Pictures | undefined> {
    const seed = 'seed' in plan.order ? plan.order.seed : undefined;
    const order = {
      ...plan.order,
      count: missing,
      // The same seed would make the same image again.
      ...(seed !== undefined && { seed: seed + plan.order.count }),
    };
    try {
      return await this.delivered(plan, order, context);
    } catch (error) {
      if (files.length === 0) throw error;
      this.logger.log.warn({ err: error, requestId: context.caller.requestId }, 'some images are missing');
      return undefined;
    }
  }

  private async delivered(
    plan: OrderedImages,
    order: PictureOrder['order'],
    { caller, signal }: { caller: ImageCaller; signal: AbortSignal },
  ): Promise<Pictures> {
    const id = plan.sale.name;
    const body = [Buffer.from(JSON.stringify(order))];
    const startedMs = performance.now();
    const call = {
      kind: plan.kind,
      ...caller,
      model: id,
      body,
      ...(plan.files && { files: plan.files }),
    };
    const response = await traced('infer', () => this.router.complete(call, signal));
    const inferenceMs = performance.now() - startedMs;
    const { backend, retries } = response;
    const { images } = MadeImages.parse(JSON.parse(response.body));
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
