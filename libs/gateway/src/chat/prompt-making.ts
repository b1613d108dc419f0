import { Injectable } from '@nestjs/common';
import { traced } from '@svc/telemetry';
import { type SaidBefore, promptAfterCall } from '../request/called-prompt.js';
import type { CalledPlan, ChatPlan } from '../request/chat-plan.js';
import { Preparation, type PreparedPrompt } from '../request/preparation.js';
import { type Findings, WebResearch, without } from '../web/web-research.js';
import type { Exchange } from './exchange.js';

/** A prompt, and what it rests on. */
export interface FoundPrompt {
  readonly prompt: PreparedPrompt;
  readonly findings: Findings;
}

/** Where a model wants something looked up. */
interface Call {
  readonly prompt: PreparedPrompt;
  readonly said: SaidBefore;
  /** Whether there is money for it. */
  readonly isPaid: boolean;
}

/** Makes the prompt of a request: first what there is to be found for it, then all of it as a backend gets it. */
@Injectable()
export class PromptMaking {
  constructor(
    private readonly web: WebResearch,
    private readonly preparation: Preparation,
  ) {}

  /** What was found on the web, where something is to be looked for. Throws the signal's reason and nothing else. */
  async find(plan: ChatPlan, { requestId, client }: Exchange): Promise<Findings | undefined> {
    const { web, accountId } = plan;
    return web && traced('research', () => this.web.find(web, { requestId, accountId }, client.signal));
  }

  /** Looks up what a model has asked for, and makes the prompt go on with it. Throws the signal's reason and nothing else. */
  async lookUp(
    plan: CalledPlan,
    { prompt, said, isPaid }: Call,
    { requestId, client }: Exchange,
  ): Promise<FoundPrompt> {
    const { web, accountId } = plan;
    const searching = isPaid
      ? traced('research', () => this.web.search(web, { requestId, accountId }, client.signal))
      : Promise.resolve(without(web, 'there is too little credit for it'));
    const findings = await (plan.stream ? client.beginWith(searching) : searching);
    return { findings, prompt: promptAfterCall(prompt, plan, { said, findings }) };
  }

  /** Refuses: INVALID_REQUEST, CHARACTER_NOT_FOUND, PAYLOAD_TOO_LARGE, UNAVAILABLE. */
  prepare(plan: ChatPlan, findings: Findings | undefined, signal: AbortSignal): Promise<PreparedPrompt> {
    return traced('prepare', () => this.preparation.prepare(plan, findings, signal));
  }
}
