import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import { type ChatRequest, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewaySettings } from '../gateway.config.js';
import { AnswerWriter } from '../http/answer-writer.js';
import { BackgroundWork } from '../http/background-work.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import { ChatPipeline } from './chat.pipeline.js';
import { completionEnded, completionStarted } from './completion-metrics.js';

@Controller()
export class ChatController {
  constructor(
    private readonly pipeline: ChatPipeline,
    private readonly settings: GatewaySettings,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
  ) {}

  @Answers(routes.chatCompletions)
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { id: requestId, record, bodyJson: json, caller } = request;
    const asked = request.body as ChatRequest;
    assert(caller, 'the route lets nobody in without a key');
    assert(json, 'the route has a body');
    const { config } = this.settings;
    const client = new AnswerWriter(request, reply, config);
    const { GATEWAY_BACKEND_IDLE_TIMEOUT_MS: idleTimeoutMs, GATEWAY_LEDGER_TIMEOUT_MS: ledgerTimeoutMs } =
      config;
    const exchange = { requestId, caller, asked, json, record, client, idleTimeoutMs, ledgerTimeoutMs };
    const underWay = Promise.withResolvers<void>();
    record.underWay = underWay.promise;
    completionStarted();
    let fault: unknown;
    try {
      await this.background.track(this.pipeline.complete(exchange));
    } catch (error) {
      fault = error;
      reply.headers(client.headers);
      throw await this.demands.refusalFor(caller, error, { request, reply });
    } finally {
      completionEnded(record, fault);
      client.close();
      underWay.resolve();
    }
  }
}
