import { type Simulator, startSimulator } from '@svc/simulator';
import sharp from 'sharp';
import { Platform, type TestAccount } from './platform.js';

export interface ImageReplyBody {
  readonly id: string;
  readonly images: readonly string[];
  readonly timing: { readonly inferenceDuration: number; readonly total: number };
  readonly cost: { readonly usd: number };
}

/** A request as the simulated backend received it. */
interface ReceivedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isAborted: boolean;
}

type Init = RequestInit & { readonly apiKey?: string };

/** A platform with image models on a simulated backend, and an account with 100 USD. */
export class ImagePlatform {
  private constructor(
    readonly backend: Simulator,
    readonly platform: Platform,
    readonly account: TestAccount,
  ) {}

  static async start(models: (backend: Simulator) => readonly object[]): Promise<ImagePlatform> {
    const backend = await startSimulator({ port: 0 });
    const platform = await Platform.start({
      models: models(backend),
      otherLimits: { image: { standard: { requestsPerMinute: 500 } } },
    });
    return new ImagePlatform(backend, platform, await platform.account('100.00'));
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await this.backend.close();
  }

  post(path: string, body: object, { apiKey = this.account.apiKey, ...init }: Init = {}): Promise<Response> {
    return fetch(`${this.platform.apiUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...init,
    });
  }

  generate(body: object, init?: Init): Promise<Response> {
    return this.post('/image/generate', { model: 'painter', prompt: 'a lighthouse', ...body }, init);
  }

  /** The reply of a request that must succeed. */
  async made(body: object): Promise<ImageReplyBody> {
    const response = await this.generate(body);
    if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
    return (await response.json()) as ImageReplyBody;
  }

  /** The last request that arrived at the backend. */
  async received(): Promise<ReceivedRequest> {
    const response = await fetch(`${this.backend.url}/sim/images`);
    const { data } = (await response.json()) as { data: ReceivedRequest[] };
    const last = data.at(-1);
    if (!last) throw new Error('no request arrived');
    return last;
  }

  /** A new account with 1 USD, and what is left of it. */
  async ownAccount() {
    const own = await this.platform.account('1.00');
    return { ...own, left: async () => (await this.platform.balances(own.id)).usd };
  }
}

/** A model at 0.01 USD an image, with one simulated backend per entry of `settings`. */
export function imageModel(
  { url }: Simulator,
  id: string,
  {
    settings = [''],
    ...more
  }: { readonly settings?: readonly string[]; readonly [field: string]: unknown } = {},
): object {
  return {
    id,
    name: id,
    type: 'image',
    tier: 'XS',
    pricing: { generation: 0.01 },
    backends: settings.map((setting, at) => ({
      url: `${url}/v1`,
      model: `paint${setting}`,
      // Makes it practically certain that the first one is called first.
      weight: at === 0 ? 1e9 : 1e-9,
    })),
    ...more,
  };
}

export async function imageFacts(base64: string | undefined) {
  const { format, width, height } = await sharp(Buffer.from(base64 ?? '', 'base64')).metadata();
  return { format, width, height };
}
