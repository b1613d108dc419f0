import {
  type EarlierMediaJob,
  MEDIA_JOBS_WIRE,
  type MediaJob,
  type MediaJobCalls,
  type MediaJobName,
  type MediaJobRecord,
  MediaJobs,
  type MediaJobsWanted,
  type NewMediaJob,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { type Exchange, InternalClient, type NeighbourAddress, PortClient } from '@svc/runtime';

/** How long the media may take to begin; the worker opens them in its store first. */
const OPEN_MS = 20_000;
/** The longest pause in the media. */
const PAUSE_MS = 60_000;
/** The longest download, by a slow client. */
const READ_MS = 3_600_000;

export interface HttpMediaJobsSettings extends NeighbourAddress {
  /** Deadline of a call. */
  readonly waitMs: number;
}

/** The jobs of another process. Repeating a call has no further effect. */
export class HttpMediaJobs extends MediaJobs {
  private readonly client: InternalClient;
  private readonly calls: MediaJobCalls;

  constructor({ waitMs, ...address }: HttpMediaJobsSettings) {
    super();
    this.client = new InternalClient(address);
    this.calls = new PortClient<MediaJobCalls>(this.client, MEDIA_JOBS_WIRE, {
      path: routes.callMediaJobs.path,
      deadlineMs: waitMs,
      alone: true,
    }).port;
  }

  override earlier(
    job: Pick<NewMediaJob, 'accountId' | 'kind' | 'bodySha256'> & { readonly idempotencyKey: string },
  ): Promise<EarlierMediaJob | undefined> {
    return this.calls.earlier(job);
  }

  override repeated(
    job: Pick<NewMediaJob, 'accountId' | 'keyId' | 'kind' | 'bodySha256'>,
  ): Promise<EarlierMediaJob | undefined> {
    return this.calls.repeated(job);
  }

  override place(job: NewMediaJob): Promise<void> {
    return this.calls.place(job);
  }

  override charged(id: string): Promise<void> {
    return this.calls.charged(id);
  }

  override withdraw(id: string): Promise<void> {
    return this.calls.withdraw(id);
  }

  override find(name: MediaJobName): Promise<MediaJob | undefined> {
    return this.calls.find(name);
  }

  override downloadUrl(id: string): Promise<string | undefined> {
    return this.calls.downloadUrl(id);
  }

  override remove(id: string): Promise<void> {
    return this.calls.remove(id);
  }

  override list(wanted: MediaJobsWanted): Promise<readonly MediaJobRecord[]> {
    return this.calls.list(wanted);
  }

  override end(id: string): Promise<MediaJobRecord> {
    return this.calls.end(id);
  }

  override async open(id: string): Promise<AsyncIterable<Uint8Array>> {
    const call = {
      path: routes.openMedia.path,
      body: JSON.stringify({ id }),
      deadlineMs: OPEN_MS,
      pauseMs: PAUSE_MS,
      idempotent: true,
    };
    try {
      return await this.client.open(call, (exchange) => {
        const { status } = exchange;
        if (status === 200) return Promise.resolve(contentOf(exchange));
        exchange.abort();
        if (status === 404) throw new Problem('MEDIA_NOT_FOUND');
        throw new TypeError(`the other process responded with ${status}`);
      });
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

async function* contentOf(exchange: Exchange): AsyncGenerator<Uint8Array> {
  exchange.endWithin(READ_MS);
  try {
    for (let parts = await exchange.read(); parts.length > 0; parts = await exchange.read()) yield* parts;
  } finally {
    exchange.abort();
  }
}
