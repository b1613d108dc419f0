import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type ChargeLine, NO_USAGE } from '@svc/contracts/messages';
import { usdNumber } from '@svc/contracts/money';
import type { CallOrigin, Served } from '@svc/contracts/inference';
import { type HttpPair, type ModelSale, PaidOperations } from '@svc/paid/paid';
import { type RequestRecord, RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { type PromptBounds, trustedPrompt } from '../tokens/trusted-prompt.js';

/** What a backend made of texts. */
interface OfTexts {
  /** The tokens of all texts, if it counted them. */
  readonly promptTokens?: number | undefined;
}

/** A request that sells what a model makes of texts, in one JSON response. */
export interface InputSale<Made extends OfTexts> {
  readonly operation: RequestRecord['operation'];
  readonly sale: ModelSale;
  readonly bounds: PromptBounds;
  /** The charge for this number of tokens; without what was made, the most that it may come to. */
  readonly line: (tokens: number, made?: Made) => ChargeLine;
  readonly call: (origin: CallOrigin, signal: AbortSignal) => Promise<Served<Made>>;
}

/** What was made, and what every response says of it. */
export interface SoldInput<Made> {
  readonly made: Made;
  readonly line: ChargeLine;
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly cost: { readonly usd: number; readonly diem: number };
}

/** Sells what models make of texts. It is charged by their tokens, as a backend counts them if plausible. */
@Injectable()
export class InputSales {
  constructor(
    private readonly paid: PaidOperations,
    private readonly logger: RootLogger,
  ) {}

  /** Refuses the same as `PaidOperations.run` and the router. */
  async run<Made extends OfTexts>(input: InputSale<Made>, pair: HttpPair): Promise<SoldInput<Made>> {
    const { record, id: requestId } = pair.request;
    const { sale, bounds, line } = input;
    assert(input.operation, 'an operation of a model has a name');
    record.operation = input.operation;
    const { result, cost } = await this.paid.run(
      {
        sale,
        amounts: { tokens: bounds.tokens },
        hold: { amountNano: line(bounds.tokensAtMost).amountNano },
        perform: async ({ accountId }, signal) => {
          const origin = { requestId, accountId, model: sale.model.id };
          const { result: made, backend, retries } = await traced('infer', () => input.call(origin, signal));
          const promptTokens = this.trusted(made.promptTokens, input, { requestId, backend });
          const lines = [line(promptTokens, made)] as const;
          const usage = { ...NO_USAGE, promptTokens };
          return { result: { made, promptTokens, line: lines[0] }, backend, retries, lines, usage };
        },
      },
      pair,
    );
    const { promptTokens, ...sold } = result;
    record.promptTokens = promptTokens;
    return {
      ...sold,
      model: sale.name,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
      cost: { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) },
    };
  }

  /** The backend's count if plausible, otherwise an estimate or the lower bound. */
  private trusted(
    reported: number | undefined,
    { sale, bounds }: Pick<InputSale<OfTexts>, 'sale' | 'bounds'>,
    { requestId, backend }: { requestId: string; backend: string },
  ): number {
    const { tokens = Math.max(bounds.tokens, 1), doubt } = trustedPrompt(reported ?? 0, bounds);
    if (doubt !== undefined) {
      inference.doubted.add(1, sale.name, backend, doubt);
      this.logger.log.warn(
        { requestId, backend, doubted: [doubt], reported },
        'implausible token counts of a backend were replaced',
      );
    }
    return Math.min(tokens, bounds.tokensAtMost);
  }
}
