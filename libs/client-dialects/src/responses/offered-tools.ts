import { isFields } from '@svc/contracts/inference';
import type { ResponseRequest } from '@svc/api/responses';
import { jsonOrUndefined } from '@svc/runtime';
import { type JsonPart, partOf } from '@svc/paid/json';

type Tool = NonNullable<ResponseRequest['tools']>[number];
type FunctionTool = Extract<Tool, { type: 'function' }>;
export type CustomTool = Extract<Tool, { type: 'custom' }>;

const INPUT = 'input';

/** A tool as its client calls it. The model is offered a function. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
  /** Whether it is called with free text. */
  readonly isCustom: boolean;
}

/** The tools of a request, by the names of the functions that the model is offered. */
export type OfferedTools = ReadonlyMap<string, OfferedTool>;

/** The name of the function for a tool. */
export function functionName(name: string, namespace?: string | null): string {
  return namespace ? `${namespace}__${name}` : name;
}

export function offeredTools(tools: ResponseRequest['tools']): OfferedTools {
  const offered = new Map<string, OfferedTool>();
  const offer = ({ name, type }: CustomTool | FunctionTool, namespace?: string): void =>
    void offered.set(functionName(name, namespace), {
      name,
      ...(namespace !== undefined && { namespace }),
      isCustom: type === 'custom',
    });
  for (const tool of tools ?? []) {
    if (tool.type === 'namespace') for (const inner of tool.tools) offer(inner, tool.name);
    else if (tool.type === 'function' || tool.type === 'custom') offer(tool);
  }
  return offered;
}

/** The tool that a function stands for. A model may also call what it was not offered. */
export function toolNamed(name: string, offered: OfferedTools): OfferedTool {
  return offered.get(name) ?? { name, isCustom: false };
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
  const value = jsonOrUndefined(argumentsText);
  if (!isFields(value)) return argumentsText;
  if (Object.keys(value).length === 0) return '';
  return typeof value[INPUT] === 'string' ? value[INPUT] : argumentsText;
}
