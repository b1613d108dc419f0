import type { Guard } from '@svc/contracts/catalog';
import {
  type Completion,
  type ModerationCall,
  type ModerationOrder,
  type RankCall,
  type Ranks,
  Scores,
  type Served,
  type Verdicts,
} from '@svc/contracts/inference';
import type { PieceReader } from '../chat/piece-reader.js';
import { ReadResponse } from '../chat/read-chats.js';
import { chatReaderOf, dialectOf } from '../dialects/dialects.js';
import { guardChat, guardVerdict } from '../scores/moderations.js';
import { inBatches } from './batches.js';
import { bytesOf, passing } from './call-body.js';
import type { ModelCall, ModelCalls } from './model-calls.js';

/** The chat with a guard model is made here. */
const NEW_CHAT = { isEncrypted: false, isOriginal: false };

/** Calls of models that judge texts. */
export class LocalScores extends Scores {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  /** Splits the documents into batches if one of the model's backends needs them. */
  override async rank({ order, ...origin }: RankCall, signal: AbortSignal): Promise<Served<Ranks>> {
    const { catalog, settings, whole } = this.calls;
    const batched = catalog.backendsOf(origin.model).filter((each) => dialectOf(each).rerank?.isBatched);
    const size = Math.min(order.documents.length, ...batched.map(({ maxBatch }) => maxBatch));
    const pass = passing(origin.model, catalog);
    const call: ModelCall = {
      ...origin,
      kind: 'rerank',
      cacheKey: origin.requestId,
      body: () => bytesOf(order),
    };
    const { result, ...servedBy } = await inBatches(order.documents, { size, signal }, (some, together) =>
      this.calls.first(call, together, {
        ...whole,
        at: ({ rerank }, { backend }) =>
          rerank && {
            request: () =>
              rerank.request(backend.model, {
                ...order,
                documents: [...some],
                others: pass(order.others, rerank),
              }),
            take: async (exchange) => {
              const body = await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES);
              return rerank.read({ body, headers: exchange.headers }, some.length);
            },
          },
      }),
    );
    const { parts, ...counted } = result;
    const searches = parts.reduce((sum, part) => sum + (part.searches ?? 0), 0);
    return {
      ...servedBy,
      result: {
        scores: parts.flatMap(({ scores }) => scores),
        ...counted,
        ...(searches > 0 && { searches }),
      },
    };
  }

  /** Judges inputs at an endpoint in batches, and with a guard model one by one. */
  override async moderate(
    { order, ...origin }: ModerationCall,
    signal: AbortSignal,
  ): Promise<Served<Verdicts>> {
    const { inputs, guard } = order;
    const sizes = this.calls.catalog.backendsOf(origin.model).map(({ maxBatch }) => maxBatch);
    const size = guard ? 1 : Math.min(...sizes, inputs.length);
    const call: ModelCall = {
      ...origin,
      kind: 'moderation',
      cacheKey: origin.requestId,
      body: () => bytesOf(order),
    };
    const judge = guard
      ? (some: ModerationOrder['inputs'], together: AbortSignal) =>
          this.guarded(call, { guard, input: some[0] }, together)
      : (some: ModerationOrder['inputs'], together: AbortSignal) => this.judged(call, some, together);
    const { result, ...servedBy } = await inBatches(inputs, { size, signal }, (some, together) =>
      judge([...some], together),
    );
    const { parts, ...counted } = result;
    return { ...servedBy, result: { verdicts: parts.flatMap(({ verdicts }) => verdicts), ...counted } };
  }

  private judged(call: ModelCall, inputs: ModerationOrder['inputs'], signal: AbortSignal) {
    const { settings, whole } = this.calls;
    return this.calls.first<Verdicts>(call, signal, {
      ...whole,
      at: ({ moderations }, { backend }) =>
        moderations && {
          request: () => moderations.request(backend.model, inputs),
          take: async (exchange) =>
            moderations.read(await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES), inputs.length),
        },
    });
  }

  private guarded(
    call: ModelCall,
    {
      guard,
      input,
    }: { readonly guard: Guard; readonly input: ModerationOrder['inputs'][number] | undefined },
    signal: AbortSignal,
  ) {
    const { settings, whole } = this.calls;
    return this.calls.first<Verdicts>(call, signal, {
      ...whole,
      at: ({ chat }, { backend }) =>
        chat && {
          request: () => chat.request({ model: backend.model }, [guardChat(input)], false),
          take: async (exchange) => {
            const body = await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES);
            chat.checkCompletion(body);
            const reader = chatReaderOf(chat.reader && backend.kind, NEW_CHAT);
            const answer = await answerIn({ body, backend: '', retries: 0 }, reader, whole.pauseMs);
            const promptTokens = reader.reported?.promptTokens;
            return {
              verdicts: [guardVerdict(answer, guard)],
              ...(promptTokens !== undefined && { promptTokens }),
            };
          },
        },
    });
  }
}

/** The text of a completion. */
async function answerIn(completion: Completion, reader: PieceReader, idleTimeoutMs: number): Promise<string> {
  const response = new ReadResponse(completion, reader);
  const texts: string[] = [];
  for await (const arrival of response.arrivals({ idleTimeoutMs, onRepetition: undefined }))
    for (const event of [arrival].flat())
      for (const { index, delta } of response.read(event))
        if (index === 0 && typeof delta['content'] === 'string') texts.push(delta['content']);
  return texts.join('');
}
