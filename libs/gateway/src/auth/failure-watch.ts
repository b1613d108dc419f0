import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { isFromClients } from '@svc/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { subjectOf } from './failure-gate.js';
import { GatewaySettings } from '../gateway.config.js';
import { FailureBlocks } from '../limits/failure-blocks.js';

/**
 * Counts each failure before its response is sent, so that it is counted before the caller's next request.
 */
@Injectable()
export class FailureWatch implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly blocks: FailureBlocks,
    private readonly settings: GatewaySettings,
  ) {}

  onModuleInit(): void {
    if (this.settings.config.GATEWAY_FAILURE_BLOCK === 'off') return;
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onSend', async (request, reply) => {
      if (isFailure(request, reply.statusCode)) await this.blocks.failed(subjectOf(request));
    });
  }
}

/** Refusals by a limit, requests for payment instructions and requested retries do not count as failures. */
function isFailure(request: FastifyRequest, status: number): boolean {
  if (status < 400 || status === 429 || !isFromClients(request)) return false;
  if (request.record.problem?.isRepeatWanted) return false;
  return status !== 402 || request.caller !== undefined;
}
