import { type MethodWire, type PortCalls, type PortWire, wireText } from '@svc/contracts/ports';
import { Problem, encodeProblem } from '@svc/contracts/problems';
import { type Trace, tracing } from '@svc/telemetry';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RootLogger } from '../logging/logger.module.js';

type AnyMethod = MethodWire<unknown[], unknown>;
type PortCall = PortCalls['calls'][number];

/**
 * Serves a port to other processes. Calls that arrive in one request start together, and each result is sent
 * as its call ends.
 */
export class PortResponses<Port extends object> {
  private readonly methods: ReadonlyMap<string, AnyMethod>;

  constructor(
    private readonly port: Port,
    wire: PortWire<Port>,
    private readonly logger: RootLogger,
  ) {
    this.methods = new Map(Object.entries<AnyMethod>(wire as never));
  }

  /**
   * Never rejects: an error thrown by a call becomes its result. Results of the same turn go out in one
   * write.
   */
  async response({ calls }: PortCalls, reply: FastifyReply): Promise<void> {
    reply.hijack();
    const { raw } = reply;
    raw.on('error', () => undefined);
    let lines = '';
    let isFlushing = false;
    const head = { ...reply.getHeaders(), 'content-type': 'application/x-ndjson' } as Record<string, string>;
    const flush = (): void => {
      isFlushing = false;
      if (lines === '' || raw.destroyed) return;
      if (!raw.headersSent) raw.writeHead(reply.statusCode, head);
      raw.write(lines);
      lines = '';
    };
    const write = (line: string): void => {
      lines += line;
      if (isFlushing) return;
      isFlushing = true;
      setImmediate(flush);
    };
    await Promise.all(
      calls.map(async (call, at) => {
        write(`{"at":${at},${await this.resultOf(call)}}\n`);
      }),
    );
    if (raw.destroyed) return;
    if (!raw.headersSent)
      raw.writeHead(reply.statusCode, { ...head, 'content-length': Buffer.byteLength(lines) });
    raw.end(lines);
    lines = '';
  }

  /** The result member of one call, traced as part of the caller's trace if the call names one. */
  private resultOf(call: PortCall): Promise<string> {
    const trace = tracing.forNeighbour({
      name: call.method,
      traceparent: call.traceparent,
      startMs: performance.now(),
    });
    return trace ? tracing.run(trace, () => this.result(call, trace)) : this.result(call);
  }

  private async result({ method, arguments: given }: PortCall, trace?: Trace): Promise<string> {
    try {
      const wire = this.methods.get(method);
      if (!wire) throw new Problem('INVALID_REQUEST', { message: 'The port has no such method.' });
      const read = z.safeDecode(wire.arguments, given);
      if (!read.success) throw new Problem('INVALID_REQUEST', { cause: read.error });
      const run = this.port[method as keyof Port] as (...values: unknown[]) => Promise<unknown>;
      return `"value":${wireText(wire, wire.result, await run.apply(this.port, read.data))}`;
    } catch (error) {
      trace?.root.fail(error);
      const problem = Problem.from(error);
      if (problem.status >= 500) this.logCause(method, problem);
      return `"problem":${JSON.stringify(encodeProblem(problem))}`;
    }
  }

  /** The caller only gets the problem, so its cause is logged here. */
  private logCause(method: string, { code, cause }: Problem): void {
    const { log } = this.logger;
    if (code === 'UNKNOWN_ERROR') log.error({ method, err: cause }, 'a call failed');
    else log.warn({ method, problem: code, cause: String(cause) }, 'a call was rejected');
  }
}
