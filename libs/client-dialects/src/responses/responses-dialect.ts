import type { Problem } from '@svc/contracts/problems';
import type { ResponseRequest } from '@svc/api/responses';
import {
  type ResponseEncoder,
  type CompletionHead,
  type ClientDialect,
  type OutputNormaliser,
} from '@svc/text/output';
import { type ResponseWriter, KEEP_ALIVE_FRAME } from '@svc/paid/http';
import { offeredTools } from './offered-tools.js';
import { ResponseHead, type ResponseOptions } from './response-head.js';
import { StreamedResponse, failedFrames } from './streamed-response.js';
import { WholeResponse } from './whole-response.js';

/** The dialect of OpenAI's Responses, for one request. */
export class ResponsesDialect implements ClientDialect {
  readonly keepAliveFrame = KEEP_ALIVE_FRAME;
  private readonly options: ResponseOptions;
  private stream: StreamedResponse | undefined;

  constructor(
    private readonly request: ResponseRequest,
    private readonly requestId: string,
  ) {
    const { tools, reasoning } = request;
    const summary = reasoning?.summary ?? 'none';
    this.options = { tools: offeredTools(tools), summarises: summary !== 'none' };
  }

  streamed(client: ResponseWriter, normaliser: OutputNormaliser, about: CompletionHead): ResponseEncoder {
    const head = new ResponseHead(this.request, about);
    this.stream = new StreamedResponse(client, normaliser, about, { ...this.options, head });
    return this.stream;
  }

  whole(client: ResponseWriter, normaliser: OutputNormaliser, about: CompletionHead): ResponseEncoder {
    const head = new ResponseHead(this.request, about);
    return new WholeResponse(client, normaliser, about, { ...this.options, head });
  }

  /** Clients read the code of an error only from a response that has begun and failed. */
  problemFrames(problem: Problem): string {
    if (this.stream) return this.stream.failedFrames(problem);
    const { request, requestId: id } = this;
    return failedFrames(new ResponseHead(request, { id, model: request.model }), problem);
  }
}
