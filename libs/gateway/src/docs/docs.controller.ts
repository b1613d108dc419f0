import { Controller, Param, Req, Res } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { GatewaySettings } from '@svc/paid';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { DOCS_PAGE, DOCS_POLICY, docsAsset } from './docs-page.js';

/** Serves the API documentation page. Everything it loads comes from this service. */
@Controller()
export class DocsController {
  constructor(private readonly settings: GatewaySettings) {}

  /** A browser is led to the console. */
  @Serves(routes.root)
  root(
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): z.infer<typeof routes.root.reply> {
    const isPage = headers.accept?.includes('text/html') === true;
    if (isPage && this.settings.config.SVC_CONSOLE === 'on')
      void reply.status(303).header('location', routes.consoleStart.path);
    void reply.header('vary', 'accept');
    return { api: '/api/v1', docs: routes.docs.path, openapi: routes.openApi.path };
  }

  @Serves(routes.health)
  health(): z.infer<typeof routes.health.reply> {
    return { status: 'ok' };
  }

  @Serves(routes.docs)
  page(@Res() reply: FastifyReply): void {
    void reply
      .headers({
        'content-type': routes.docs.replyType,
        'cache-control': 'no-cache',
        'content-security-policy': DOCS_POLICY,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(DOCS_PAGE);
  }

  @Serves(routes.docsAsset)
  async asset(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const asset = await docsAsset(name);
    if (!asset) throw new Problem('NOT_FOUND');
    await asset.send(request, reply);
  }
}
