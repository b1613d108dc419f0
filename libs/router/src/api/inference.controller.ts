import { once } from 'node:events';
import { Controller, Inject, Req, Res } from '@nestjs/common';
import {
  type ServedBy,
  type ChunkStream,
  PROBLEM_TRAILER,
  decodeInferenceCall,
  encodeServedBy,
  encodeProblemTrailer,
} from '@svc/contracts/inference';
import { Problem, encodeProblem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves, whileConnected } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RouterPorts } from './router-ports.js';
import { completeFor, streamFor } from './serve-call.js';

type RawReply = FastifyReply['raw'];

/**
 * A router over HTTP: a call is a head and the bytes for a backend, a response is a head
 * and its bytes.
 */
@Controller()
export class InferenceController {
  constructor(@Inject(RouterPorts) private readonly router: RouterPorts) {}

  @Serves(routes.infer)
  async infer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    // A failing socket also emits `close`, which is handled.
    reply.raw.on('error', () => undefined);
    try {
      await whileConnected(request, (signal) => this.respond(request, reply, signal));
    } catch (error) {
      refuse(error, request, reply);
    }
  }

  private async respond(request: FastifyRequest, reply: FastifyReply, signal: AbortSignal): Promise<void> {
    const { call, stream } = decodeInferenceCall(request.headers, [request.body as Buffer]);
    request.record.model = call.model;
    request.record.stream = stream;
    if (stream) {
      const response = await streamFor(this.router, call, signal);
      begin(request, reply, { response, trailer: PROBLEM_TRAILER });
      await pass(response, reply.raw, signal);
    } else {
      const response = await completeFor(this.router, call, signal);
      const { body } = response;
      const size = Buffer.byteLength(body);
      begin(request, reply, { response, 'content-length': String(size) });
      // ASCII needs no encoding.
      reply.raw.end(body, size === body.length ? 'latin1' : 'utf8');
    }
  }
}

/** `framing` announces how the response ends, which must be known before it begins. */
function begin(
  { record }: FastifyRequest,
  reply: FastifyReply,
  { response, ...framing }: { readonly response: ServedBy } & Readonly<Record<string, unknown>>,
): void {
  record.backend = response.backend;
  const head = { ...reply.getHeaders(), ...encodeServedBy(response), ...framing };
  reply.hijack();
  reply.raw.writeHead(200, head as Record<string, string>);
}

/** Forwards the bytes as fast as they are read. An error after the first byte goes into the trailer. */
async function pass({ bytes }: ChunkStream, raw: RawReply, signal: AbortSignal): Promise<void> {
  // A full connection is left to the loop, which waits for it.
  bytes.offerTo?.((part) => {
    if (raw.writableNeedDrain) return false;
    raw.write(part);
    return true;
  });
  try {
    for await (const arrived of bytes) {
      let goesOn = true;
      for (const part of arrived) goesOn = raw.write(part);
      if (!goesOn) await once(raw, 'drain', { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    raw.addTrailers(encodeProblemTrailer(error));
  }
  raw.end();
}

/** Sends a problem with the port's codec, which carries more than clients may see. */
function refuse(error: unknown, { record }: FastifyRequest, reply: FastifyReply): void {
  const problem = Problem.from(error);
  record.problem = problem;
  if (reply.raw.destroyed) {
    record.ended = 'client_gone';
    reply.hijack();
    return;
  }
  void reply.status(problem.status).header('content-type', 'application/json').send(encodeProblem(problem));
}
