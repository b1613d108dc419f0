import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import {
  ANTHROPIC_VERSIONS,
  type CountTokensRequest,
  type MessagesRequest,
  type TokenCount,
} from '@svc/api/messages';
import { invalidRequest } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves, type Incoming, type Outgoing } from '@svc/runtime';
import { Completions } from '@svc/text/chat';
import { modelHeaders } from '@svc/paid/http';
import { findTextModel, textModelNamed } from '@svc/paid/models';
import { type TranslatedRequest } from '@svc/text/request';
import { OriginalMessageRequest, type WrittenRequest } from './original-request.js';
import { messageDialect } from './message-dialect.js';
import { chatRequestFor } from './message-translation.js';
import { PromptTokens } from '../tokens/prompt-tokens.js';

/** The options by which clients ask for reasoning to be removed. */
const HIDING = ['strip_thinking_response', 'disable_thinking'];

@Controller()
export class MessagesController {
  constructor(
    private readonly completions: Completions,
    private readonly tokens: PromptTokens,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.messages, { isDirect: true })
  async create(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    const body = request.body as MessagesRequest;
    const text = request.bodyJson?.text ?? '';
    const translation = await this.translation(body, request);
    const original = this.originalOf({ request: body, text }, translation, request);
    const dialect = messageDialect(body, request.id);
    await this.completions.response(request, reply, { ...translation, dialect, original });
  }

  @Serves(routes.countTokens)
  async count(@Req() request: Incoming, @Res({ passthrough: true }) reply: Outgoing): Promise<TokenCount> {
    const body = request.body as CountTokensRequest;
    const { model, deprecation } = findTextModel(body.model, this.catalog);
    reply.headers(modelHeaders(model, deprecation));
    return this.tokens.count(await this.translation(body, request), { request, reply });
  }

  /** The request as it is; undefined if its response is to be changed. */
  private originalOf(
    given: Pick<WrittenRequest, 'request' | 'text'>,
    { json, origin }: TranslatedRequest,
    { headers }: Incoming,
  ): OriginalMessageRequest | undefined {
    const { model, svc_parameters: own } = given.request;
    const { suffix } = textModelNamed(model, this.catalog);
    if (HIDING.some((name) => Object.hasOwn(own ?? {}, name) || Object.hasOwn(suffix, name)))
      return undefined;
    const { strings } = json;
    return new OriginalMessageRequest({ ...given, strings, betas: headers['anthropic-beta'] }, origin);
  }

  /** Refuses: INVALID_REQUEST, and as `textModelNamed`. */
  private translation(
    body: MessagesRequest | CountTokensRequest,
    { headers, bodyJson }: Incoming,
  ): Promise<TranslatedRequest> {
    const { 'anthropic-version': version } = headers;
    if (version !== undefined && !ANTHROPIC_VERSIONS.some((known) => known === version)) {
      const expected = ANTHROPIC_VERSIONS.join(' or ');
      throw invalidRequest([
        {
          code: 'invalid_value',
          path: ['anthropic-version'],
          message: `Invalid header: expected ${expected}`,
        },
      ]);
    }
    assert(bodyJson, 'the route has a body');
    const { model } = textModelNamed(body.model, this.catalog);
    return chatRequestFor(body, bodyJson, model);
  }
}
