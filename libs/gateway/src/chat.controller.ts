import { Controller, Req, Res } from '@nestjs/common';
import { Problem, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerHeaders } from './answer-headers.js';
import { AnswerWriter } from './answer-writer.js';
import { CallerGate } from './caller-gate.js';
import { ChatPipeline } from './chat.pipeline.js';
import { sendDiscovery } from './discovery.js';

@Controller()
export class ChatController {
  constructor(
    private readonly gate: CallerGate,
    private readonly pipeline: ChatPipeline,
    private readonly writer: AnswerWriter,
  ) {}

  @Answers(routes.chatCompletions)
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (request.headers['sign-in-with-x'] ?? request.headers['x-sign-in-with-x']) {
      throw new Problem('NOT_AVAILABLE', {
        message: 'Signing in with a wallet is not available on this deployment.',
      });
    }
    if (request.headers.authorization === undefined) {
      sendDiscovery(request, reply);
      return;
    }
    const { id: requestId, record, body: value, bodyText: text } = request;
    const caller = await this.gate.identify(request.headers.authorization);
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    await this.writer.write({ request, reply }, (signal) => {
      const headers = new AnswerHeaders(reply.raw);
      return this.pipeline.answer({ requestId, caller, value, text, record, headers, signal });
    });
  }
}
