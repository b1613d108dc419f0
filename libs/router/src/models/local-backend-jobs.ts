import { type PlannedRequest, ResponseBytes } from '@svc/backend-calls';
import {
  type BackendJob,
  BackendJobs,
  type BackendJobStatus,
  type ChunkStream,
  type JobCall,
  type JobOrderCall,
  type Served,
  type ServedBy,
} from '@svc/contracts/inference';
import { bytesOf, passing } from './call-body.js';
import { forClients, refuseUnended } from './job-calls.js';
import type { ModelCall, ModelCalls } from './model-calls.js';
import type { JobResponse, JobsDialect } from '../dialect/dialect.js';

/** Enough for the object of any job. */
const RESPONSE_BYTES = 1_048_576;

/** A short call about a job: how it is made, and how its response is read. */
interface ShortCall<Part> {
  readonly request: (jobs: JobsDialect, model: string) => PlannedRequest;
  readonly read: (response: JobResponse, jobs: JobsDialect) => Part;
}

/** Jobs of backends that make videos and music. */
export class LocalBackendJobs extends BackendJobs {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  override submit({ order, ...origin }: JobOrderCall, signal: AbortSignal): Promise<Served<BackendJob>> {
    const call = { ...origin, kind: 'job-submit' as const, body: () => bytesOf(order) };
    const pass = passing(call.model, this.calls.catalog);
    return this.short(call, signal, {
      request: (jobs, model) => jobs.submit(model, { ...order, others: pass(order.others, jobs) }),
      read: (response, jobs) => ({ result: jobs.readSubmitted(response) }),
    });
  }

  override status({ job, ...origin }: JobCall, signal: AbortSignal): Promise<Served<BackendJobStatus>> {
    const call = { ...origin, kind: 'job-status' as const, body: () => bytesOf({ job }) };
    return this.short(call, signal, {
      request: (jobs) => jobs.status(job),
      read: (response, jobs) => ({ result: forClients(jobs.readStatus(response)) }),
    });
  }

  override cancel({ job, ...origin }: JobCall, signal: AbortSignal): Promise<ServedBy> {
    const call = { ...origin, kind: 'job-cancel' as const, body: () => bytesOf({ job }) };
    return this.short(call, signal, { request: (jobs) => jobs.cancel(job), read: refuseUnended });
  }

  /** It may be long: its bytes are passed on as they arrive. */
  override content({ job, ...origin }: JobCall, signal: AbortSignal): Promise<ChunkStream> {
    const { settings } = this.calls;
    const call = { ...origin, kind: 'job-content' as const, body: () => bytesOf({ job }) };
    return this.calls.first(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: false,
      at: ({ jobs }) =>
        jobs && {
          request: () => jobs.content(job),
          take: (exchange) => {
            exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
            const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
            return Promise.resolve({ bytes: new ResponseBytes(exchange, { limitBytes }) });
          },
        },
    });
  }

  private short<Part>(
    call: ModelCall,
    signal: AbortSignal,
    { request, read }: ShortCall<Part>,
  ): Promise<Part & ServedBy> {
    return this.calls.first(call, signal, {
      ...this.calls.whole,
      anyStatus: true,
      at: ({ jobs }, { backend }) =>
        jobs && {
          request: () => request(jobs, backend.model),
          take: async (exchange) => {
            const body = await exchange.text(RESPONSE_BYTES);
            return read({ status: exchange.status, body }, jobs);
          },
        },
    });
  }
}
