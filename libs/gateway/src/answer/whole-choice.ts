import {
  type Fields,
  type FinishReason,
  choiceIndex,
  fieldsOf,
  finishReason,
  isFields,
  stopReason,
} from '../json/backend-json.js';
import { filterTokens, wrapLogprobs } from './logprobs.js';
import { isTextParts, placeTexts } from './message-texts.js';
import { ThinkBlocks } from './think-blocks.js';
import { adoptFunctionCall, wholeToolCalls } from './tool-calls.js';

/** A choice of an answer that is not streamed, in the form of the contract. */
export interface WholeChoice {
  readonly index: number;
  readonly finish_reason: FinishReason;
  readonly stop_reason: 'stop' | 'length' | null;
  readonly logprobs: Fields | null;
  readonly message: Fields;
}

/** A backend's choice in the form of the contract; what the message has beyond it stays. */
export function readChoice(choice: Fields, position: number): WholeChoice {
  const message = isFields(choice['message']) ? choice['message'] : {};
  const { content: given } = message;
  placeTexts(message);
  adoptFunctionCall(message);
  const calls = fieldsOf(message['tool_calls']);
  return {
    index: choiceIndex(choice['index'], position),
    finish_reason: finishReason(choice['finish_reason'], calls.length > 0),
    stop_reason: stopReason(choice['stop_reason']),
    logprobs: wrapLogprobs(choice['logprobs']) ?? null,
    message: {
      ...message,
      role: 'assistant',
      content: (isTextParts(given) ? given : message['content']) ?? null,
      reasoning_content: message['reasoning_content'] ?? null,
      ...(calls.length > 0 && { tool_calls: wholeToolCalls(calls) }),
    },
  };
}

/** A choice without what the model thought: no think blocks, no `reasoning_content`, none of their tokens. */
export function withoutThoughts(choice: WholeChoice, startsInside: boolean): WholeChoice {
  const message: Fields = { ...choice.message };
  placeTexts(message);
  message['reasoning_content'] = null;
  const { content } = message;
  if (typeof content !== 'string') return { ...choice, message };
  const blocks = new ThinkBlocks(startsInside);
  const visible = blocks.read(content).visible + blocks.end().visible;
  message['content'] = visible;
  const { logprobs } = choice;
  if (visible === content || !logprobs) return { ...choice, message };
  const tokens = new ThinkBlocks(startsInside);
  // As in a stream, where a token goes when its text is not passed on as it came.
  const kept = filterTokens(logprobs, (token) => tokens.read(token).visible === token);
  return { ...choice, message, logprobs: kept };
}
