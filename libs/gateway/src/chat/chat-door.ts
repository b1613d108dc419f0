import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Problem, routes } from '@svc/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerEntry } from '../auth/caller-entry.js';
import { sendDiscovery } from '../http/discovery.js';

/**
 * Asks who is there before a body is read: parsing what a stranger sends costs more than turning them away.
 */
@Injectable()
export class ChatDoor implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly entry: CallerEntry,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preParsing', async (request, reply) => {
      const isChat = request.routeOptions.url === routes.chatCompletions.path;
      // The reply tells Fastify that the request has had its answer.
      return !isChat || (await this.enter(request, reply)) ? undefined : reply;
    });
  }

  /** False when the request has had its answer. Refuses: AUTHENTICATION_FAILED, NOT_AVAILABLE, UNAVAILABLE. */
  private async enter(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { headers } = request;
    if (headers['sign-in-with-x'] ?? headers['x-sign-in-with-x']) {
      throw new Problem('NOT_AVAILABLE', {
        message: 'Signing in with a wallet is not available on this deployment.',
      });
    }
    if (headers.authorization === undefined) {
      await this.entry.enterUnknown(request);
      sendDiscovery(request, reply);
      return false;
    }
    await this.entry.enter(request);
    return true;
  }
}
