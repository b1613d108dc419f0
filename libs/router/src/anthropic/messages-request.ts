import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { type ThinkingForm, functionIn, outputLimit, unsupported } from '../chat/other-forms.js';
import { conversationOf } from './conversation.js';
import { thinkingOf } from './thinking.js';

/** Asks for JSON, for which the API has no switch without a schema. */
const JSON_ONLY = { type: 'text', text: 'Respond with a single JSON object and nothing else.' };

function toolOf(tool: Fields): Fields {
  const { name, description, parameters } = functionIn(tool);
  return {
    name,
    ...(typeof description === 'string' && description !== '' && { description }),
    input_schema: isFields(parameters)
      ? { type: 'object', ...parameters }
      : { type: 'object', properties: {} },
    ...(isFields(tool['cache_control']) && { cache_control: tool['cache_control'] }),
  };
}

/** Which tools the model may or must use. */
function choiceOf({ tool_choice: choice, parallel_tool_calls: isParallel }: Fields): Fields | undefined {
  const one = isParallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...one };
  if (isFields(choice) && isFields(choice['function']))
    return { type: 'tool', name: choice['function']['name'], ...one };
  return choice === 'auto' || isParallel === false ? { type: 'auto', ...one } : undefined;
}

function toolMembers(request: Fields): Fields {
  const tools = fieldsOf(request['tools']).map(toolOf);
  if (tools.length === 0) return {};
  const choice = choiceOf(request);
  return { tools, ...(choice && { tool_choice: choice }) };
}

/** A schema for the response, and whether JSON is asked for without one. */
function formatOf({ response_format: format }: Fields): { format?: Fields; isJson: boolean } {
  if (!isFields(format)) return { isJson: false };
  const { type, json_schema: named } = format;
  const schema = isFields(named) && isFields(named['schema']) ? named['schema'] : undefined;
  return {
    ...(type === 'json_schema' && schema && { format: { type: 'json_schema', schema } }),
    isJson: type === 'json_object',
  };
}

/** At most 1 here, 2 in chat completions. Models do not take both values. */
function samplingOf({ temperature, top_p: share, top_k: most }: Fields): Fields {
  return {
    ...(typeof temperature === 'number'
      ? { temperature: Math.min(temperature, 1) }
      : typeof share === 'number' && share < 1 && { top_p: share }),
    ...(typeof most === 'number' && most > 0 && { top_k: most }),
  };
}

/** Stop sequences; those of spaces alone are not accepted. */
function stopsOf({ stop }: Fields): Fields {
  const texts = [stop].flat().filter((text) => typeof text === 'string' && text.trim() !== '');
  return texts.length === 0 ? {} : { stop_sequences: texts };
}

interface Asked {
  readonly model: string;
  readonly form: ThinkingForm;
  readonly isStream: boolean;
}

/** The request in the provider's form, from one in that of chat completions. Throws BackendError. */
export function messagesRequest(request: Fields, { model, form, isStream }: Asked): Fields {
  if (Number(request['n'] ?? 1) > 1) throw unsupported('this model makes one choice for a request', 'n');
  const { system, messages, mayThink } = conversationOf(request['messages']);
  const tools = toolMembers(request);
  const maxTokens = outputLimit(request);
  const { format, isJson } = formatOf(request);
  const forced =
    isFields(tools['tool_choice']) && ['any', 'tool'].includes(String(tools['tool_choice']['type']));
  const wish = thinkingOf(request, form, maxTokens);
  // It cannot begin to reason in the middle of a turn, nor before a call that it must make.
  const thinking = wish.isOn && (!mayThink || forced) ? { members: {}, isOn: false } : wish;
  const { output_config: output, ...members } = thinking.members;
  const config = { ...(isFields(output) && output), ...(format && { format }) };
  const instructions = isJson ? [...system, JSON_ONLY] : system;
  return {
    model,
    max_tokens: maxTokens,
    ...(instructions.length > 0 && { system: instructions }),
    messages,
    ...tools,
    ...(!thinking.isOn && samplingOf(request)),
    ...stopsOf(request),
    ...members,
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(isStream && { stream: true }),
  };
}
