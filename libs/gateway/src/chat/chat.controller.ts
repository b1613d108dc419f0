import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import { type ChatRequest, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewaySettings } from '../gateway.config.js';
import { AnswerWriter } from '../http/answer-writer.js';
import { BackgroundWork } from '../http/background-work.js';
import { ChatPipeline } from './chat.pipeline.js';

@Controller()
export class ChatController {
  constructor(
    private readonly pipeline: ChatPipeline,
    private readonly settings: GatewaySettings,
    private readonly background: BackgroundWork,
  ) {}

  @Answers(routes.chatCompletions)
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { id: requestId, record, bodyText: text, caller } = request;
    const asked = request.body as ChatRequest;
    assert(caller, 'the route lets nobody in without a key');
    const client = new AnswerWriter(request, reply, this.settings.config);
    try {
      await this.background.track(this.pipeline.complete({ requestId, caller, asked, text, record, client }));
    } catch (error) {
      reply.headers(client.headers);
      throw error;
    } finally {
      client.close();
    }
  }
}
