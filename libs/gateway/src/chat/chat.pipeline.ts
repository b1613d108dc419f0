import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/runtime';
import { Admission } from '../holds/admission.js';
import type { ChatAsk } from './chat-ask.js';
import { planChat } from '../request/chat-plan.js';
import { type ChatAnswer, Inference } from './inference.js';

/**
 * The life of a chat completion from top to bottom; on the right, what each step may refuse with. It returns a
 * stream and is none itself, so that every refusal still has its HTTP status. Money is held before the first token
 * and settled after the last, however the answer ends.
 */
@Injectable()
export class ChatPipeline {
  constructor(
    private readonly catalog: Catalog,
    private readonly admission: Admission,
    private readonly inference: Inference,
  ) {}

  async answer(ask: ChatAsk): Promise<ChatAnswer> {
    const { requestId, caller, record, signal, headers } = ask;
    const plan = planChat(ask.asked, ask, this.catalog); //         MODEL_NOT_FOUND, PRO_ONLY_MODEL, NOT_AVAILABLE, …
    record.model = plan.model.id;
    headers.model(plan.model, plan.deprecation);
    const entrant = { requestId, caller, plan, headers };
    const ticket = await this.admission.enter(entrant); //        RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE
    try {
      const context = { requestId, plan, ticket, record, signal };
      const answer = await this.inference.infer(context); // CHARACTER_NOT_FOUND, MODEL_AT_CAPACITY, …
      headers.backend(record.backend);
      return answer;
    } catch (error) {
      await ticket.release();
      throw error;
    }
  }
}
