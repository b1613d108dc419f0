import { Injectable } from '@nestjs/common';
import type { Model } from '@svc/catalog';
import type { CatalogEditModel, CatalogImageModel } from '@svc/contracts/catalog';
import { Chat } from '@svc/contracts/inference';
import { type ChargeLine, NO_USAGE, type Usage } from '@svc/contracts/messages';
import { invalidRequest } from '@svc/contracts/problems';
import { type Buyer, type ModelSale, sellModel } from '@svc/paid/paid';
import { RootLogger } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import { costAtMostNano, priceUsage } from '@svc/text/chat';

/** Longer prompts say enough. A longer one would not fit into a header of the response either. */
const PROMPT_CHARACTERS = 1_000;
const OUTPUT_TOKENS = 500;
/** What a template adds to the texts of a chat, in tokens at most. */
const TEMPLATE_TOKENS = 64;
const REWRITE_MS = 30_000;
/** Source: the public interface. */
const CHARACTERS_PER_TOKEN = 3.2;

const SYSTEM = `You improve prompts for a model that makes images. Rewrite the prompt of the user so that it describes one image in detail: its subject, setting, composition, light and style. Keep what it says, and its language. Respond with the new prompt only, of at most ${PROMPT_CHARACTERS} characters.`;

/** How the prompt of a request is rewritten before its images are made. */
export interface Enhancement {
  readonly prompt: string;
  readonly model: Model;
  /** The most that it costs. */
  readonly mostNano: bigint;
  /** The prompt for the model server. */
  readonly applied: (rewritten: string) => string;
}

export interface RewrittenPrompt {
  readonly text: string;
  readonly lines: readonly ChargeLine[];
  readonly usage: Usage;
}

interface Wish {
  readonly prompt: string;
  readonly enhance_prompt?: boolean | null | undefined;
}

/** Refuses: INVALID_REQUEST if the model's entry names no text model; as `sellModel` for that one. */
export function enhancementOf(
  { prompt, enhance_prompt: isWanted }: Wish,
  { model: { id, promptModel } }: ModelSale<CatalogImageModel | CatalogEditModel>,
  buyer: Buyer,
): Enhancement | undefined {
  if (isWanted !== true) return undefined;
  if (promptModel === undefined) {
    const message = `enhance_prompt is not supported by ${id}`;
    throw invalidRequest([{ code: 'custom', path: ['enhance_prompt'], message }]);
  }
  if (prompt.length > PROMPT_CHARACTERS) return undefined;
  const { model } = sellModel(promptModel, buyer.catalog.text, buyer);
  const mostNano = costAtMostNano(model, promptTokensAtMost(prompt), OUTPUT_TOKENS);
  return { prompt, model, mostNano, applied: (rewritten) => rewritten };
}

const promptTokensAtMost = (prompt: string): number => Buffer.byteLength(SYSTEM + prompt) + TEMPLATE_TOKENS;

/** Has a text model rewrite prompts. */
@Injectable()
export class PromptEnhancer {
  constructor(
    private readonly chat: Chat,
    private readonly logger: RootLogger,
  ) {}

  /** Undefined if the model makes no prompt in time: the images are then made from that of the request. */
  async rewritten(
    { prompt, model }: Enhancement,
    caller: { readonly requestId: string; readonly accountId: string },
    signal: AbortSignal,
  ): Promise<RewrittenPrompt | undefined> {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(REWRITE_MS)]);
      const { text, usage } = await traced('rewrite prompt', () =>
        this.ask(prompt, model, { caller, within }),
      );
      return text === '' ? undefined : { text, lines: priceUsage(model, usage), usage };
    } catch (error) {
      if (signal.aborted) throw error;
      this.logger.log.warn(
        { err: error, requestId: caller.requestId, model: model.id },
        'the prompt of an image could not be rewritten',
      );
      return undefined;
    }
  }

  private async ask(
    prompt: string,
    model: Model,
    {
      caller,
      within,
    }: { caller: { readonly requestId: string; readonly accountId: string }; within: AbortSignal },
  ): Promise<{ text: string; usage: Usage }> {
    const messages = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: prompt },
    ];
    const body = [Buffer.from(JSON.stringify({ messages, max_tokens: OUTPUT_TOKENS }))];
    const response = await this.chat.complete({ ...caller, model: model.id, body }, within);
    const texts: string[] = [];
    for await (const arrival of response.arrivals({ idleTimeoutMs: REWRITE_MS, onRepetition: undefined }))
      for (const event of [arrival].flat())
        for (const { index, delta } of response.read(event))
          if (index === 0 && typeof delta['content'] === 'string') texts.push(delta['content']);
    const whole = texts.join('');
    const text = whole.replace(/^\s*<think>[^]*?<\/think>/, '').trim();
    const { reported } = response.facts;
    return { text: text.slice(0, PROMPT_CHARACTERS), usage: trusted(reported, { prompt, whole }) };
  }
}

/** No more than was held for, and estimates in place of counts that are missing. */
function trusted(reported: Usage | undefined, { prompt, whole }: { prompt: string; whole: string }): Usage {
  const estimated = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const { promptTokens, completionTokens, cachedTokens } = reported ?? NO_USAGE;
  return {
    ...NO_USAGE,
    promptTokens: Math.min(promptTokens || estimated(SYSTEM + prompt), promptTokensAtMost(prompt)),
    completionTokens: Math.min(completionTokens || estimated(whole), OUTPUT_TOKENS),
    cachedTokens,
  };
}
