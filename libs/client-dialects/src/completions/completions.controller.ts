import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import type { CompletionRequest } from '@svc/api/completions';
import { routes } from '@svc/api';
import { Serves, type Incoming, type Outgoing } from '@svc/runtime';
import { Completions } from '@svc/text/chat';
import { chatRequestFor } from './completion-translation.js';
import { textDialect } from './text-dialect.js';

@Controller()
export class CompletionsController {
  constructor(private readonly completions: Completions) {}

  @Serves(routes.completions, { isDirect: true })
  async complete(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    const { bodyJson } = request;
    assert(bodyJson, 'the route has a body');
    const body = request.body as CompletionRequest;
    const translation = await chatRequestFor(body, bodyJson);
    await this.completions.response(request, reply, { ...translation, dialect: textDialect(body) });
  }
}
