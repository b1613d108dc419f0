import type { ResponseRequest } from '@svc/contracts';
import { isFields } from '../json/backend-json.js';
import { type JsonPart, partOf } from '../json/json-part.js';

type Tool = NonNullable<ResponseRequest['tools']>[number];
export type CustomTool = Extract<Tool, { type: 'custom' }>;

const INPUT = 'input';

/** The names of the tools that are called with free text. */
export function customToolNames(tools: ResponseRequest['tools']): ReadonlySet<string> {
  return new Set((tools ?? []).flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
}

/** A custom tool as a function with one text, which every model that calls functions can call. */
export function asFunction({ name, description, format }: CustomTool): JsonPart {
  const grammar =
    format?.type === 'grammar'
      ? `\n\nThe input must match this ${format.syntax} grammar:\n${format.definition}`
      : '';
  return partOf({
    type: 'function',
    function: {
      name,
      description: `${description ?? ''}${grammar}`,
      parameters: {
        type: 'object',
        properties: { [INPUT]: { type: 'string' } },
        required: [INPUT],
        additionalProperties: false,
      },
    },
  });
}

/** The arguments by which that function is called with a text. */
export const argumentsWith = (input: string): string => JSON.stringify({ [INPUT]: input });

/** The text in arguments of that function; models also write the text itself. */
export function inputIn(argumentsText: string): string {
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (isFields(value) && typeof value[INPUT] === 'string') return value[INPUT];
  } catch {
    // The text itself.
  }
  return argumentsText;
}
