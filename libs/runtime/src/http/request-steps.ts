import { type DynamicModule, Module } from '@nestjs/common';
import type { Incoming, Outgoing } from './incoming.js';

type Admitted = (request: Incoming, reply: Outgoing) => void;
type Ended = (request: Incoming, status: number) => void;
type BeforeHandler = (request: Incoming, reply: Outgoing) => true | Promise<boolean>;
type BeforeSend = (request: Incoming, reply: Outgoing, payload: unknown) => Promise<void>;

/**
 * The steps that libraries add to the path of every request. Those of one moment run in the order in which
 * they were added.
 */
export class RequestSteps {
  private readonly ofAdmitted: Admitted[] = [];
  private readonly ofHandler: BeforeHandler[] = [];
  private readonly ofSend: BeforeSend[] = [];
  private readonly ofEnded: Ended[] = [];

  /** Runs when a request has been admitted. */
  whenAdmitted(step: Admitted): void {
    this.ofAdmitted.push(step);
  }

  /** Runs before the handler, which is left out if the step returns `false` because it has responded. */
  beforeHandler(step: BeforeHandler): void {
    this.ofHandler.push(step);
  }

  /** Runs before a response is sent as a whole. A handler that writes to the connection itself skips it. */
  beforeSend(step: BeforeSend): void {
    this.ofSend.push(step);
  }

  /** Runs when a response has been written to its end, or its client has left, with the logged status. */
  whenEnded(step: Ended): void {
    this.ofEnded.push(step);
  }

  admitted(request: Incoming, reply: Outgoing): void {
    for (const step of this.ofAdmitted) step(request, reply);
  }

  /** Whether the handler is to run. Returns without a promise if every step does. */
  ready(request: Incoming, reply: Outgoing, from = 0): true | Promise<boolean> {
    for (let at = from; at < this.ofHandler.length; at += 1) {
      const passed = this.ofHandler[at]?.(request, reply) ?? true;
      if (passed !== true) return passed.then((goesOn) => goesOn && this.ready(request, reply, at + 1));
    }
    return true;
  }

  ended(request: Incoming, status: number): void {
    for (const step of this.ofEnded) step(request, status);
  }

  async sending(request: Incoming, reply: Outgoing, payload: unknown): Promise<void> {
    for (const step of this.ofSend) await step(request, reply, payload);
  }
}

/** Provides the steps of a process, so that its modules can add theirs. */
@Module({})
export class RequestStepsModule {
  static of(steps: RequestSteps): DynamicModule {
    return {
      module: RequestStepsModule,
      global: true,
      providers: [{ provide: RequestSteps, useValue: steps }],
      exports: [RequestSteps],
    };
  }
}
