import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { type ThinkingForm, functionIn, outputLimit, reasoningWish } from '../chat/other-forms.js';
import { contentsOf } from './contents.js';

/** Members of `generationConfig` by their names in chat completions. */
const SAME_MEANING: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  n: 'candidateCount',
};

/** The levels of reasoning. Source: the SDK of the provider. */
const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

function declarationOf(tool: Fields): Fields {
  const { name, description, parameters } = functionIn(tool);
  return {
    name,
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(isFields(parameters) && { parametersJsonSchema: parameters }),
  };
}

function callingConfig({ tool_choice: choice }: Fields): Fields | undefined {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  if (isFields(choice) && isFields(choice['function']))
    return { mode: 'ANY', allowedFunctionNames: [choice['function']['name']] };
  return choice === 'auto' ? { mode: 'AUTO' } : undefined;
}

function toolMembers(request: Fields): Fields {
  const functionDeclarations = fieldsOf(request['tools']).map(declarationOf);
  if (functionDeclarations.length === 0) return {};
  const config = callingConfig(request);
  return {
    tools: [{ functionDeclarations }],
    ...(config && { toolConfig: { functionCallingConfig: config } }),
  };
}

function thinkingConfig(request: Fields, form: ThinkingForm, maxTokens: number): Fields | undefined {
  const { effort, budgetTokens, isOff } = reasoningWish(request, maxTokens);
  const isByLevel = form === 'adaptive';
  if (isOff) return isByLevel ? { thinkingLevel: 'MINIMAL' } : { thinkingBudget: 0 };
  if (budgetTokens === undefined) return undefined;
  const amount = isByLevel ? { thinkingLevel: LEVELS[effort ?? 'high'] } : { thinkingBudget: budgetTokens };
  return { includeThoughts: true, ...amount };
}

function formatOf({ response_format: format }: Fields): Fields {
  if (!isFields(format) || (format['type'] !== 'json_schema' && format['type'] !== 'json_object')) return {};
  const { json_schema: named } = format;
  const schema = isFields(named) && isFields(named['schema']) ? named['schema'] : undefined;
  return { responseMimeType: 'application/json', ...(schema && { responseJsonSchema: schema }) };
}

function generationConfig(request: Fields, form: ThinkingForm): Fields {
  const maxOutputTokens = outputLimit(request);
  const { top_k: most, stop } = request;
  const stopSequences = [stop].flat().filter((text) => typeof text === 'string' && text !== '');
  const thinking = thinkingConfig(request, form, maxOutputTokens);
  const same = Object.entries(SAME_MEANING).flatMap(([name, own]) =>
    typeof request[name] === 'number' ? [[own, request[name]] as const] : [],
  );
  return {
    maxOutputTokens,
    ...Object.fromEntries(same),
    ...(typeof most === 'number' && most > 0 && { topK: most }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...formatOf(request),
    ...(thinking && { thinkingConfig: thinking }),
  };
}

/** The request in the form of the Gemini API, from one in that of chat completions. Throws BackendError. */
export function contentRequest(request: Fields, form: ThinkingForm): Fields {
  const { system, contents } = contentsOf(request['messages']);
  return {
    contents,
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...toolMembers(request),
    generationConfig: generationConfig(request, form),
  };
}
