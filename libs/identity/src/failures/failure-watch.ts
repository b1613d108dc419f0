import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RequestSteps, isFromClients, type Incoming } from '@svc/runtime';
import { subjectOf } from './failure-gate.js';
import { IdentitySettings } from '../identity.config.js';
import { FailureBlocks } from './failure-blocks.js';

/**
 * Counts each failure before its response is sent, so that it is counted before the caller's next request.
 */
@Injectable()
export class FailureWatch implements OnModuleInit {
  constructor(
    private readonly steps: RequestSteps,
    private readonly blocks: FailureBlocks,
    private readonly settings: IdentitySettings,
  ) {}

  onModuleInit(): void {
    if (this.settings.config.GATEWAY_FAILURE_BLOCK === 'off') return;
    this.steps.beforeSend(async (request, reply) => {
      if (isFromClients(request) && isFailure(request, reply.statusCode))
        await this.blocks.failed(subjectOf(request));
    });
  }
}

/**
 * Failures of lines of batches and of the service, refusals by a limit, requests for payment instructions and
 * requested retries do not count. The code of our own error shows which it is, never a status that a request
 * can cause.
 */
export function isFailure(request: Answered, status: number): boolean {
  const { problem } = request.record;
  if (request.caller?.inBatch) return false;
  if (status < 400 || status === 429 || problem?.isRepeatWanted) return false;
  if (isAbandoned(request, status)) return false;
  return status !== 402 || request.caller !== undefined;
}

type Answered = Pick<Incoming, 'record' | 'caller'> & {
  readonly raw: { readonly socket: { readonly destroyed: boolean } };
};

/**
 * Whether a request failed because its client disconnected. What is refused for any other reason counts, so
 * disconnecting before the response does not help a client that guesses keys.
 */
function isAbandoned({ raw, record }: Answered, status: number): boolean {
  return raw.socket.destroyed && (status >= 500 || record.problem?.code === 'REQUEST_INCOMPLETE');
}
