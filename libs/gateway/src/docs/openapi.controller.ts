import { Controller, Req, Res } from '@nestjs/common';
import { type OpenApiAudience, llmsText, openApiDocument } from '@svc/openapi';
import { routes } from '@svc/api';
import { Serves, VERSION } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { PublishedText } from '@svc/paid/http';

/** Serves the OpenAPI descriptions. */
@Controller()
export class OpenApiController {
  private llms: PublishedText | undefined;
  private readonly texts = new Map<OpenApiAudience, PublishedText>();

  @Serves(routes.openApi)
  async forClients(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.text('public').send(request, reply);
  }

  @Serves(routes.operatorOpenApi)
  async forOperator(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.text('operator').send(request, reply);
  }

  @Serves(routes.llms)
  async forPrograms(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.llms ??= new PublishedText(llmsText(), {
      'content-type': routes.llms.replyType,
      'cache-control': 'no-cache',
    });
    await this.llms.send(request, reply);
  }

  /** Generated on first request, so that startup does not wait for it. */
  private text(audience: OpenApiAudience): PublishedText {
    const text = this.texts.get(audience) ?? describe(audience);
    this.texts.set(audience, text);
    return text;
  }
}

function describe(audience: OpenApiAudience): PublishedText {
  const document = openApiDocument({ audience, version: VERSION });
  // Parsers of YAML 1.1 would read a plain `off` as false.
  const yaml = stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 0 });
  return new PublishedText(yaml, { 'content-type': 'application/yaml', 'cache-control': 'no-cache' });
}
