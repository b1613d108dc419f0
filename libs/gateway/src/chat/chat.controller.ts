import assert from 'node:assert/strict';
import { Controller, Injectable, Req, Res } from '@nestjs/common';
import { type ChatRequest, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewaySettings } from '../gateway.config.js';
import { AnswerWriter } from '../http/answer-writer.js';
import { BackgroundWork } from '../http/background-work.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import { ChatPipeline } from './chat.pipeline.js';
import { completionEnded, completionStarted } from './completion-metrics.js';

/** Dependencies for the end of a completion: background work, and payment instructions in refusals. */
@Injectable()
export class Aftermath {
  constructor(
    readonly background: BackgroundWork,
    readonly demands: PaymentDemands,
  ) {}
}

@Controller()
export class ChatController {
  constructor(
    private readonly pipeline: ChatPipeline,
    private readonly settings: GatewaySettings,
    private readonly aftermath: Aftermath,
  ) {}

  @Answers(routes.chatCompletions)
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { id: requestId, record, bodyJson: json, caller } = request;
    const asked = request.body as ChatRequest;
    assert(caller, 'the route lets nobody in without a key');
    assert(json, 'the route has a body');
    const { config } = this.settings;
    const client = new AnswerWriter(request, reply, config);
    const { GATEWAY_BACKEND_SILENCE_MS: silenceMs, GATEWAY_LEDGER_PATIENCE_MS: patienceMs } = config;
    const exchange = { requestId, caller, asked, json, record, client, silenceMs, patienceMs };
    const underWay = Promise.withResolvers<void>();
    record.underWay = underWay.promise;
    completionStarted();
    let fault: unknown;
    try {
      await this.aftermath.background.track(this.pipeline.complete(exchange));
    } catch (error) {
      fault = error;
      reply.headers(client.headers);
      throw await this.aftermath.demands.toldTo(caller, error, { request, reply });
    } finally {
      completionEnded(record, fault);
      client.close();
      underWay.resolve();
    }
  }
}
