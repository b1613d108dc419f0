import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { ChatRequest } from '@svc/api/chat';
import type { JsonText, Incoming, Outgoing } from '@svc/runtime';
import type { ClientDialect } from '../output/client-dialect.js';
import { GatewaySettings } from '@svc/paid';
import { encryptionHeaders } from '@svc/api/tee';
import { ResponseWriter, BackgroundWork } from '@svc/paid/http';
import { sessionOf } from '../request/affinity.js';
import type { OriginalRequest } from '../request/original-request.js';
import { type Origin, atOrigin } from '../request/translated-request.js';
import type { SearchTerms } from '../web/web-plan.js';
import { PaymentDemands } from '@svc/identity/wallets';
import { ChatPipeline } from './chat.pipeline.js';
import { completionEnded, completionStarted } from './completion-metrics.js';
import type { ChatExchange } from './exchange.js';

/** A request for a completion, in the terms of chat completions, and how to write the response. */
interface RequestedCompletion {
  readonly chat: ChatRequest;
  readonly json: JsonText;
  readonly dialect: ClientDialect;
  /** For a translated request: where its fields were. */
  readonly origin?: Origin;
  readonly search?: SearchTerms | undefined;
  /** For backends that have the API of the endpoint. */
  readonly original?: OriginalRequest | undefined;
}

/** Runs the completions of every endpoint. */
@Injectable()
export class Completions {
  constructor(
    private readonly pipeline: ChatPipeline,
    private readonly settings: GatewaySettings,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
  ) {}

  /** Resolves when the response is written and settled. Refuses as the pipeline. */
  async response(request: Incoming, reply: Outgoing, completion: RequestedCompletion): Promise<void> {
    const exchange = this.exchangeOf(request, reply, completion);
    const { record, client, caller } = exchange;
    const work = this.background.begin(record);
    completionStarted();
    let fault: unknown;
    try {
      await this.pipeline.complete(exchange);
    } catch (error) {
      fault = error;
      reply.headers(client.headers);
      const refusal = await this.demands.refusalFor(caller, error, { request, reply });
      throw completion.origin ? atOrigin(refusal, completion.origin) : refusal;
    } finally {
      completionEnded(record, fault);
      client.close();
      work.end();
    }
  }

  private exchangeOf(
    request: Incoming,
    reply: Outgoing,
    { chat, json, dialect, original, search }: RequestedCompletion,
  ): ChatExchange {
    const { id: requestId, record, caller } = request;
    assert(caller, 'the route lets nobody in without a key');
    const { config } = this.settings;
    const client = new ResponseWriter(request, reply, config, dialect.keepAliveFrame);
    if (chat.stream !== true) client.outlastIfRepeated();
    return {
      requestId,
      caller,
      chat,
      json,
      dialect,
      original,
      search,
      encryption: encryptionHeaders(request.headers),
      session: sessionOf(request.headers),
      record,
      client,
      idleTimeoutMs: config.GATEWAY_BACKEND_IDLE_TIMEOUT_MS,
      ledgerTimeoutMs: config.GATEWAY_LEDGER_TIMEOUT_MS,
    };
  }
}
