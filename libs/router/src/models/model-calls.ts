import {
  type BackendCalls,
  type ByteSource,
  type CallMode,
  type CallPlan,
  type LiveBackend,
  ResponseBytes,
  type RoutedCall,
} from '@svc/backend-calls';
import type { Catalog } from '@svc/catalog';
import { type ChunkStream, type ServedBy, isMadeOnce } from '@svc/contracts/inference';
import type { Exchange, Logger } from '@svc/runtime';
import { Authorizations } from '../authorization/authorizations.js';
import { type EventMaker, MadeEvents } from '../chat/made-events.js';
import type { Dialect } from '../dialect/dialect.js';
import { dialectOf } from '../dialects/dialects.js';
import type { RouterSettings } from '../router.config.js';

/** A call of a model. */
export type ModelCall = Omit<RoutedCall, 'backends'>;

/** What is made of a call for a backend with this dialect; `undefined` if the dialect does not have it. */
type PlanAt<Plan> = (dialect: Dialect, live: LiveBackend) => Plan | undefined;

export interface ModelMode<Part> extends Omit<CallMode<Part>, 'at' | 'order'> {
  readonly at: PlanAt<Omit<CallPlan<Part>, 'headers' | 'authorization'>>;
}

/** How a stream is requested, and begins. */
export interface StreamPlan extends Pick<CallPlan<never>, 'request'> {
  /** Reads the beginning of a response that is not an error, and returns all bytes that arrived. */
  readonly first: (source: ByteSource, exchange: Exchange) => Promise<readonly Buffer[]>;
  /** Makes the events of the response, if its bytes have another form. */
  readonly events?: (() => EventMaker) | undefined;
  /** For chats: the kind of backend whose reader reads the response, unless it is that of OpenAI. */
  readonly dialect?: string | undefined;
}

/** Calls of the backends of models, each by its dialect. */
export class ModelCalls {
  private readonly authorizations: Authorizations;

  constructor(
    readonly catalog: Catalog,
    readonly backends: BackendCalls,
    readonly settings: RouterSettings & { readonly log: Logger },
  ) {
    this.authorizations = new Authorizations(settings, backends.pool.connections.fresh);
  }

  /** The mode for responses that are not streamed. */
  get whole(): Pick<CallMode<never>, 'deadlineMs' | 'pauseMs' | 'isStream'> {
    const { ROUTER_COMPLETE_TIMEOUT_MS: limitMs } = this.settings;
    return { deadlineMs: limitMs, pauseMs: limitMs, isStream: false };
  }

  /** A call that no backend has answered is made again if a token was refused that another may replace. */
  first<Part>(
    call: ModelCall,
    signal: AbortSignal,
    { at, ...mode }: ModelMode<Part>,
  ): Promise<Part & ServedBy> {
    const { catalog } = this;
    const { model } = call;
    const routed = {
      ...call,
      backends: catalog.backendsOf(model),
      sharesPrompts: catalog.sharesPrompts(model),
    };
    let hasAuthorization = false;
    let mayRenew = false;
    const once = (): Promise<Part & ServedBy> =>
      this.backends.first(routed, signal, {
        ...mode,
        at: (live) => {
          const dialect = dialectOf(live.backend);
          const plan = at(dialect, live);
          const authorization = this.authorizationOf(dialect, () => (mayRenew = true));
          hasAuthorization ||= authorization !== undefined;
          return plan && { ...plan, headers: dialect.headers, authorization };
        },
      });
    const calling = once();
    if (!hasAuthorization) return calling;
    return calling.catch((error: unknown) => {
      if (!mayRenew || signal.aborted || isMadeOnce(call.kind)) throw error;
      return once();
    });
  }

  /** @param renewable Called when a token was refused in whose place there may be another one. */
  private authorizationOf(
    { authorization: kind }: Dialect,
    renewable: () => void,
  ): CallPlan<never>['authorization'] {
    if (!kind) return undefined;
    let shown: { readonly key: string | undefined; readonly headers: Record<string, string> } | undefined;
    return {
      headersOf: async (call) => {
        const headers = await this.authorizations.headersOf(kind, call);
        shown = { key: call.key, headers };
        return headers;
      },
      refused: () => {
        if (shown && this.authorizations.refused(kind, shown.key, shown.headers)) renewable();
      },
    };
  }

  /** A response that is passed on as it arrives, from its beginning on. */
  streamed(call: ModelCall, signal: AbortSignal, at: PlanAt<StreamPlan>): Promise<ChunkStream> {
    const { settings } = this;
    return this.first(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: true,
      at: (dialect, live) => {
        const plan = at(dialect, live);
        return (
          plan && {
            request: plan.request,
            take: async (exchange) => {
              const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
              const source = plan.events ? new MadeEvents(exchange, plan.events()) : exchange;
              const bytes = new ResponseBytes(source, {
                first: await plan.first(source, exchange),
                limitBytes,
              });
              exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
              return { bytes, ...(plan.dialect !== undefined && { dialect: plan.dialect }) };
            },
          }
        );
      },
    });
  }
}
