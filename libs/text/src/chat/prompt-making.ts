import { Injectable } from '@nestjs/common';
import { traced } from '@svc/telemetry';
import { type EarlierTurn, promptAfterCall } from '../request/called-prompt.js';
import type { CalledPlan, ChatPlan } from '../request/chat-plan.js';
import { Preparation, type PreparedPrompt } from '../request/preparation.js';
import { type Findings, WebResearch, without } from '../web/web-research.js';
import type { ChatExchange } from './exchange.js';

/** A prompt and the findings that it contains. */
export interface FoundPrompt {
  readonly prompt: PreparedPrompt;
  readonly findings: Findings;
}

/** A model's call for a search. */
interface SearchCall {
  readonly prompt: PreparedPrompt;
  readonly turn: EarlierTurn;
  /** Whether the account can pay for it. */
  readonly isPaid: boolean;
}

/** Prepares the prompt of a request: first its web findings, then all of it as a backend gets it. */
@Injectable()
export class PromptMaking {
  constructor(
    private readonly web: WebResearch,
    private readonly preparation: Preparation,
  ) {}

  /** The web findings for a plan; undefined if it needs none. Throws only the signal's reason. */
  find(plan: ChatPlan, { requestId, client }: ChatExchange): Promise<Findings | undefined> | undefined {
    const { web, accountId } = plan;
    return web && traced('research', () => this.web.find(web, { requestId, accountId }, client.signal));
  }

  /**
   * Makes the search that a model has called for and adds it to the prompt. Throws only the signal's reason.
   */
  async lookUp(
    plan: CalledPlan,
    { prompt, turn, isPaid }: SearchCall,
    { requestId, client }: ChatExchange,
  ): Promise<FoundPrompt> {
    const { web, accountId } = plan;
    const searching = isPaid
      ? traced('research', () => this.web.search(web, { requestId, accountId }, client.signal))
      : Promise.resolve(without(web, 'there is too little credit for it'));
    const findings = await (plan.stream ? client.beginWith(searching) : searching);
    return { findings, prompt: promptAfterCall(prompt, plan, { turn, findings }) };
  }

  /**
   * Returns a promise only if attachments must be read. Refuses: INVALID_REQUEST, CHARACTER_NOT_FOUND,
   * PAYLOAD_TOO_LARGE, UNAVAILABLE.
   */
  prepare(
    plan: ChatPlan,
    findings: Findings | undefined,
    signal: AbortSignal,
  ): PreparedPrompt | Promise<PreparedPrompt> {
    return traced('prepare', () => this.preparation.prepare(plan, findings, signal));
  }
}
