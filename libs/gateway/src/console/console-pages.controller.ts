import { Controller, Param, Req, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import { Problem } from '@svc/contracts/problems';
import { GatewaySettings } from '@svc/paid';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleFile, ConsoleFiles, type PageName } from './console-files.js';

/**
 * The page may load and call only this service, and may make elements only from text: with Trusted Types and
 * no policy, no script can be made from a string.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  // A wallet may open in a window of its own.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Serves the files of the console and of the operator's desk, which are the same but for their page. */
@Controller()
export class ConsolePagesController {
  private readonly files = new ConsoleFiles();

  constructor(private readonly settings: GatewaySettings) {}

  @Serves(routes.consoleStart)
  async start(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.send(await this.pageOrProblem('index'), request, reply);
  }

  @Serves(routes.consolePage)
  async page(
    @Param() { page: path }: { page: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(await this.fileAt(path, 'index'), request, reply);
  }

  @Serves(routes.deskStart)
  async desk(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.send(await this.pageOrProblem('desk'), request, reply);
  }

  @Serves(routes.deskPage)
  async deskPage(
    @Param() { page: path }: { page: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(await this.fileAt(path, 'desk'), request, reply);
  }

  /** Paths of pages have no dots. They all have the same page, which reads its path. Refuses: NOT_FOUND. */
  private async fileAt(path: string, name: PageName): Promise<ConsoleFile> {
    if (!/^(?:api|assets)(?:\/|$)|\./.test(path)) return this.pageOrProblem(name);
    this.demandOn();
    const file = await this.files.asset(path);
    if (file) return file;
    throw new Problem('NOT_FOUND');
  }

  /** Refuses: NOT_FOUND. */
  private async pageOrProblem(name: PageName): Promise<ConsoleFile> {
    this.demandOn();
    const page = await this.files.page(name);
    if (page) return page;
    throw new Problem('NOT_FOUND', { message: 'The console has not been built: run `npm run build`.' });
  }

  /** Refuses: NOT_FOUND. */
  private demandOn(): void {
    if (this.settings.config.SVC_CONSOLE === 'off') throw new Problem('NOT_FOUND');
  }

  private async send(
    { text, etag }: ConsoleFile,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    reply.headers({ ...HEADERS, etag });
    if (request.headers['if-none-match'] === etag) await reply.status(304).send();
    else await text.send(request, reply);
  }
}
