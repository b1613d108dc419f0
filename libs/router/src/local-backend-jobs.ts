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
import type { BackendCalls } from './backend-calls.js';
import { bytesOf, passing } from './backends/call-body.js';
import type { CallMode, RoutedCall } from './backends/call-mode.js';
import { forClients, refuseUnended } from './backends/job-calls.js';
import { ResponseBytes } from './backends/response-bytes.js';
import type { Dialect, JobResponse } from './dialects/dialect.js';

/** Enough for the object of any job. */
const RESPONSE_BYTES = 1_048_576;

/** A short call about a job: how it is made, and how its response is read. */
interface ShortCall<Part> extends Pick<Required<CallMode<never>>, 'job'> {
  readonly read: (response: JobResponse, dialect: Dialect) => Part;
}

/** Jobs of backends that make videos and music. */
export class LocalBackendJobs extends BackendJobs {
  constructor(private readonly calls: BackendCalls) {
    super();
  }

  override submit({ order, ...origin }: JobOrderCall, signal: AbortSignal): Promise<Served<BackendJob>> {
    const call = { ...origin, kind: 'job-submit' as const, body: () => bytesOf(order) };
    const pass = passing(call, this.calls.catalog);
    return this.short(call, signal, {
      job: (live) =>
        live.dialect.submitJob(live.backend.model, { ...order, others: pass(order.others, live) }),
      read: (response, dialect) => ({ result: dialect.readSubmitted(response) }),
    });
  }

  override status({ job, ...origin }: JobCall, signal: AbortSignal): Promise<Served<BackendJobStatus>> {
    const call = { ...origin, kind: 'job-status' as const, body: () => bytesOf({ job }) };
    return this.short(call, signal, {
      job: ({ dialect }) => dialect.aboutJob('job-status', { job }),
      read: (response, dialect) => ({ result: forClients(dialect.readJobStatus(response)) }),
    });
  }

  override cancel({ job, ...origin }: JobCall, signal: AbortSignal): Promise<ServedBy> {
    const call = { ...origin, kind: 'job-cancel' as const, body: () => bytesOf({ job }) };
    return this.short(call, signal, {
      job: ({ dialect }) => dialect.aboutJob('job-cancel', { job }),
      read: (response) => refuseUnended(response),
    });
  }

  /** It may be long: its bytes are passed on as they arrive. */
  override content({ job, ...origin }: JobCall, signal: AbortSignal): Promise<ChunkStream> {
    const { settings } = this.calls;
    const call = { ...origin, kind: 'job-content' as const, body: () => bytesOf({ job }) };
    return this.calls.firstAvailable(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: false,
      job: ({ dialect }) => dialect.aboutJob('job-content', { job }),
      take: (exchange) => {
        exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
        const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
        return Promise.resolve({ bytes: new ResponseBytes(exchange, { limitBytes }) });
      },
    });
  }

  private short<Part>(
    call: RoutedCall,
    signal: AbortSignal,
    { job, read }: ShortCall<Part>,
  ): Promise<Part & ServedBy> {
    return this.calls.firstAvailable(call, signal, {
      ...this.calls.whole,
      job,
      anyStatus: true,
      take: async (exchange, { dialect }) => {
        const body = await exchange.text(RESPONSE_BYTES);
        return read({ status: exchange.status, body }, dialect);
      },
    });
  }
}
