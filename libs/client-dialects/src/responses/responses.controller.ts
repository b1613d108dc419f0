import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { InputTokenCount, InputTokensRequest, ResponseRequest } from '@svc/api/responses';
import { routes } from '@svc/api';
import { Serves, type Incoming, type Outgoing } from '@svc/runtime';
import { modelHeaders } from '@svc/paid/http';
import { findTextModel } from '@svc/paid/models';
import { Completions } from '@svc/text/chat';
import { PromptTokens } from '../tokens/prompt-tokens.js';
import { chatRequestFor } from './response-translation.js';
import { ResponsesDialect } from './responses-dialect.js';

@Controller()
export class ResponsesController {
  constructor(
    private readonly completions: Completions,
    private readonly tokens: PromptTokens,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.responses, { isDirect: true })
  async respond(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    const { bodyJson } = request;
    assert(bodyJson, 'the route has a body');
    const body = request.body as ResponseRequest;
    const translation = await chatRequestFor(body, bodyJson);
    const dialect = new ResponsesDialect(body, request.id);
    await this.completions.response(request, reply, { ...translation, dialect });
  }

  @Serves(routes.inputTokens)
  async count(
    @Req() request: Incoming,
    @Res({ passthrough: true }) reply: Outgoing,
  ): Promise<InputTokenCount> {
    const { bodyJson } = request;
    assert(bodyJson, 'the route has a body');
    const body = request.body as InputTokensRequest;
    const { model, deprecation } = findTextModel(body.model, this.catalog);
    reply.headers(modelHeaders(model, deprecation));
    const count = await this.tokens.count(await chatRequestFor(body, bodyJson), { request, reply });
    return { object: 'response.input_tokens', ...count };
  }
}
