import { type Simulator, startSimulator } from '@svc/simulator';
import { eventually } from './response-bodies.js';
import { Platform, type TestAccount } from './platform.js';

const AUDIO_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav'] as const;
type AudioName = (typeof AUDIO_FORMATS)[number];

/** USD per second. */
export const AUDIO_PRICE = 0.01;

interface Transcribed {
  readonly text: string;
  readonly duration: number;
  readonly timestamps?: { readonly word: readonly unknown[]; readonly segment: readonly unknown[] };
}

type Init = Pick<RequestInit, 'signal' | 'headers' | 'duplex'> & {
  readonly apiKey?: string;
  readonly path?: string;
};

/** A platform with transcription models on a simulated backend, and an account with 100 USD. */
export class AudioPlatform {
  private constructor(
    readonly backend: Simulator,
    readonly platform: Platform,
    readonly account: TestAccount,
    /** Ten seconds of audio in each format. */
    readonly files: Readonly<Record<AudioName, Buffer>>,
  ) {}

  static async start(models: (backend: Simulator) => readonly object[]): Promise<AudioPlatform> {
    const backend = await startSimulator({ port: 0 });
    const entries = AUDIO_FORMATS.map(async (format) => [format, await spoken(backend, format)] as const);
    const files = Object.fromEntries(await Promise.all(entries)) as Record<AudioName, Buffer>;
    const platform = await Platform.start({ models: models(backend) });
    return new AudioPlatform(backend, platform, await platform.account('100.00'), files);
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await this.backend.close();
  }

  formOf(
    members: Readonly<Record<string, string | readonly string[]>>,
    file: Buffer = this.files.wav,
  ): FormData {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(file)]), 'private name.bin');
    for (const [name, value] of Object.entries({ model: 'ear', ...members }))
      for (const each of [value].flat()) form.append(name, each);
    return form;
  }

  post(
    body: NonNullable<RequestInit['body']>,
    { apiKey = this.account.apiKey, path = 'transcriptions', headers, ...rest }: Init = {},
  ): Promise<Response> {
    return fetch(`${this.platform.apiUrl}/audio/${path}`, {
      method: 'POST',
      body,
      ...rest,
      headers: { authorization: `Bearer ${apiKey}`, ...headers },
    });
  }

  /** The reply of a request that must succeed. */
  async transcript(form: FormData, init: Init = {}): Promise<Transcribed> {
    const response = await this.post(form, init);
    if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
    return (await response.json()) as Transcribed;
  }

  /** The members of the last form that the backend received. */
  received(): [string, unknown][] {
    return JSON.parse(this.backend.requests().at(-1)?.body ?? '[]') as [string, unknown][];
  }

  /** What is left of an account once nothing is held. */
  async expectLeft({ id }: TestAccount, left: string): Promise<void> {
    await eventually(`${left} is left`, async () => (await this.platform.balances(id)).usd === left);
  }
}

async function spoken({ url }: Simulator, format: AudioName): Promise<Buffer> {
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', voice: 'v', input: 'a'.repeat(150), response_format: format }),
  });
  return Buffer.from(await response.arrayBuffer());
}

/** A model with one simulated backend per entry of `settings`. */
export function audioModel(
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
    type: 'asr',
    tier: 'XS',
    pricing: { perAudioSecond: AUDIO_PRICE },
    backends: settings.map((setting, at) => ({
      url: `${url}/v1`,
      model: `ear${setting}`,
      // Makes it practically certain that the first one is called first.
      weight: at === 0 ? 1e9 : 1e-9,
    })),
    ...more,
  };
}
