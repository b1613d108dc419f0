import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import { type ChatRequest, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerHeaders } from '../http/answer-headers.js';
import { AnswerWriter } from './answer-writer.js';
import { ChatPipeline } from './chat.pipeline.js';

@Controller()
export class ChatController {
  constructor(
    private readonly pipeline: ChatPipeline,
    private readonly writer: AnswerWriter,
  ) {}

  @Answers(routes.chatCompletions)
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { id: requestId, record, bodyText: text, caller } = request;
    const asked = request.body as ChatRequest;
    assert(caller, 'the route lets nobody in without a key');
    await this.writer.write({ request, reply }, (signal) => {
      const headers = new AnswerHeaders(reply.raw);
      return this.pipeline.answer({ requestId, caller, asked, text, record, headers, signal });
    });
  }
}
