import type { ServerResponse } from 'node:http';
import { Problem } from '@svc/contracts/problems';
import type { Incoming, Outgoing } from '../http/incoming.js';
import type { RequestSteps } from '../http/request-steps.js';
import { sendProblem } from '../http/send-problem.js';

const NO_CONTENT = 204;

/** The response of a direct route. */
export class DirectReply implements Outgoing {
  private readonly own: Record<string, string | number> = {};
  private isHijacked = false;
  private isSending = false;
  /** `undefined` once a step has failed: the response that reports it is sent without them. */
  private steps: RequestSteps | undefined;

  constructor(
    readonly raw: ServerResponse,
    readonly request: Incoming,
    steps: RequestSteps,
  ) {
    this.steps = steps;
  }

  get statusCode(): number {
    return this.raw.statusCode;
  }

  get sent(): boolean {
    return this.isHijacked || this.raw.writableEnded;
  }

  header(name: string, value: string | number): this {
    this.own[name.toLowerCase()] = value;
    return this;
  }

  headers(values: Readonly<Record<string, string | number>>): this {
    for (const name of Object.keys(values)) this.header(name, values[name] ?? '');
    return this;
  }

  getHeader(name: string): number | string | string[] | undefined {
    return this.own[name.toLowerCase()] ?? this.raw.getHeader(name);
  }

  getHeaders(): Readonly<Record<string, unknown>> {
    const { raw, own } = this;
    return raw.getHeaderNames().length === 0 ? own : { ...raw.getHeaders(), ...own };
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined;
  }

  removeHeader(name: string): this {
    delete this.own[name.toLowerCase()];
    if (!this.raw.headersSent) this.raw.removeHeader(name);
    return this;
  }

  status(code: number): this {
    this.raw.statusCode = code;
    return this;
  }

  /** The name by which Nest sets the status. */
  code(code: number): this {
    return this.status(code);
  }

  hijack(): this {
    this.isHijacked = true;
    return this;
  }

  send(payload?: string | Uint8Array): void {
    if (this.sent || this.isSending) return;
    this.isSending = true;
    if (!this.steps) {
      this.write(payload);
      return;
    }
    const failed = (error: unknown): void => {
      this.isSending = false;
      this.steps = undefined;
      sendProblem(Problem.from(error), this.request, this);
    };
    void this.steps.sending(this.request, this, payload).then(() => this.write(payload), failed);
  }

  private write(payload: string | Uint8Array | undefined): void {
    const { raw, own } = this;
    if (raw.headersSent) return;
    if (payload !== undefined) own['content-length'] = Buffer.byteLength(payload);
    else if (raw.statusCode !== NO_CONTENT) own['content-length'] = 0;
    raw.writeHead(raw.statusCode, own);
    raw.end(payload);
  }
}
