import { type ChatCall, type Fields, isFields, PromptCount, type Served } from '@svc/contracts/inference';
import { type Exchange, ExchangeAborted, jsonOrUndefined } from '@svc/runtime';
import type { ModelCalls } from './model-calls.js';
import { ownMembers } from './own-members.js';

/** A response has some hundred bytes. */
const RESPONSE_BYTES = 65_536;

/**
 * The tokens of a prompt, by the first backend that counts. One that does not count them is called for chats
 * as before: such endpoints have limits of their own, and servers with the same API may not have them.
 */
export function countedPrompt(
  calls: ModelCalls,
  call: ChatCall,
  signal: AbortSignal,
): Promise<Served<PromptCount>> {
  const { settings } = calls;
  return calls.first({ ...call, kind: 'prompt-count' }, signal, {
    ...calls.whole,
    anyStatus: true,
    at: ({ chat: { counting } = {} }, { backend, name }) =>
      counting && {
        request: () => counting.request(ownMembers(backend, call.accountId, settings.secret), call.body),
        take: async (exchange) => {
          const tokens = (await answerOf(exchange))[counting.tokens];
          const result = PromptCount.safeParse({ tokens });
          if (result.success) return { result: result.data };
          const { requestId, model } = call;
          const fields = { requestId, model, backend: name, status: exchange.status };
          settings.log.warn(fields, 'a backend did not count the tokens of a prompt');
          throw new ExchangeAborted('the prompt was not counted');
        },
      },
  });
}

async function answerOf(exchange: Exchange): Promise<Fields> {
  const body = await exchange.text(RESPONSE_BYTES);
  const answer = exchange.status === 200 ? jsonOrUndefined(body) : undefined;
  return isFields(answer) ? answer : {};
}
