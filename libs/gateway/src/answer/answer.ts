import { type Balances, type Cost, formatUsd, type Usage, usdNumber } from '@svc/contracts';
import type { RequestRecord } from '@svc/runtime';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Ticket } from '../holds/ticket.js';
import type { Tokenizer } from '../tokens/tokenizer.js';

/** What an answer needs to know of its request. */
export interface AnswerContext {
  readonly requestId: string;
  readonly plan: ChatPlan;
  readonly ticket: Ticket;
  readonly record: RequestRecord;
  /** Counts where the backend does not; without one it is estimated. */
  readonly tokenizer: Tokenizer | undefined;
  /** The tokens of the prompt, to be asked where the backend has not said. */
  readonly countPrompt: () => Promise<number>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** A cost as clients see it. */
export function costView(cost: Balances): Cost {
  return { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) };
}

/** Charges an answer and notes it in the request's log line. Once resolved, the charge is durable. */
export async function settleAnswer(context: AnswerContext, backend: string, usage: Usage): Promise<Balances> {
  const { record, ticket } = context;
  const cost = await ticket.settle(backend, usage, record.startedMs);
  record.promptTokens = usage.promptTokens;
  record.completionTokens = usage.completionTokens;
  record.costUsd = formatUsd(cost.usdNano);
  record.costDiem = formatUsd(cost.diemNano);
  return cost;
}
