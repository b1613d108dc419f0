import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Caller, Problem, routes } from '@svc/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerGate } from './caller-gate.js';
import { sendDiscovery } from './discovery.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, on a route that knows before it reads the body. */
    caller: Caller | undefined;
  }
}

/**
 * Asks who is there before a body is read: parsing what a stranger sends costs more than turning them away.
 */
@Injectable()
export class ChatDoor implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly gate: CallerGate,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.decorateRequest('caller', undefined);
    fastify.addHook('preParsing', async (request, reply) => {
      const isChat = request.routeOptions.url === routes.chatCompletions.path;
      // The reply tells Fastify that the request has had its answer.
      return !isChat || (await this.enter(request, reply)) ? undefined : reply;
    });
  }

  /** False when the request has had its answer. Refuses: AUTHENTICATION_FAILED, NOT_AVAILABLE, UNAVAILABLE. */
  private async enter(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { headers, record } = request;
    if (headers['sign-in-with-x'] ?? headers['x-sign-in-with-x']) {
      throw new Problem('NOT_AVAILABLE', {
        message: 'Signing in with a wallet is not available on this deployment.',
      });
    }
    if (headers.authorization === undefined) {
      sendDiscovery(request, reply);
      return false;
    }
    const caller = await this.gate.identify(headers.authorization);
    request.caller = caller;
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    return true;
  }
}
