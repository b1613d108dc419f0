import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import type { ResponseRequest } from '@svc/api/responses';
import { routes } from '@svc/api';
import { Serves, type Incoming, type Outgoing } from '@svc/runtime';
import { Completions } from '@svc/text/chat';
import { chatRequestFor } from './response-translation.js';
import { ResponsesDialect } from './responses-dialect.js';

@Controller()
export class ResponsesController {
  constructor(private readonly completions: Completions) {}

  @Serves(routes.responses, { isDirect: true })
  async respond(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    const { bodyJson } = request;
    assert(bodyJson, 'the route has a body');
    const body = request.body as ResponseRequest;
    const translation = await chatRequestFor(body, bodyJson);
    const dialect = new ResponsesDialect(body, request.id);
    await this.completions.response(request, reply, { ...translation, dialect });
  }
}
