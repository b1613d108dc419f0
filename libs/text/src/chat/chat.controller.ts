import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import type { ChatRequest } from '@svc/api/chat';
import { routes } from '@svc/api';
import { Serves, type Incoming, type Outgoing } from '@svc/runtime';
import { chatDialect } from '../output/client-dialect.js';
import { Completions } from './completions.js';

@Controller()
export class ChatController {
  constructor(private readonly completions: Completions) {}

  @Serves(routes.chatCompletions, { isDirect: true })
  response(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    const { bodyJson: json } = request;
    assert(json, 'the route has a body');
    const chat = request.body as ChatRequest;
    return this.completions.response(request, reply, { chat, json, dialect: chatDialect });
  }
}
