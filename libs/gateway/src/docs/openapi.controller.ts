import { Controller, Req, Res } from '@nestjs/common';
import { type OpenApiAudience, openApiDocument, routes } from '@svc/contracts';
import { Answers, VERSION } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { PublishedText } from '../http/published-text.js';

/** Serves the descriptions of the API. */
@Controller()
export class OpenApiController {
  private readonly texts = new Map<OpenApiAudience, PublishedText>();

  @Answers(routes.openApi)
  async forClients(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.text('public').send(request, reply);
  }

  @Answers(routes.operatorOpenApi)
  async forOperator(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.text('operator').send(request, reply);
  }

  /** Made when it is first asked for, so that no start waits for it. */
  private text(audience: OpenApiAudience): PublishedText {
    const text = this.texts.get(audience) ?? describe(audience);
    this.texts.set(audience, text);
    return text;
  }
}

function describe(audience: OpenApiAudience): PublishedText {
  const document = openApiDocument({ audience, version: VERSION });
  // Readers of YAML 1.1 would take a plain `off` for false.
  const yaml = stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 0 });
  return new PublishedText(yaml, { 'content-type': 'application/yaml', 'cache-control': 'no-cache' });
}
