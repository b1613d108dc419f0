import type { ChatRequest, ToolChoice } from '@svc/api/chat';
import { boundedJson } from '@svc/runtime';
import type { SearchTool } from '../web/search-tool.js';
import { jsonElements, jsonMembers, jsonObject } from '@svc/paid/json';

/** Tools of the service itself, which are switched on by its own parameters. */
const SERVER_TOOLS: ReadonlySet<unknown> = new Set(['web_search', 'x_search']);

/** An internal tool that the model is offered or has called. */
export interface AddedTool {
  readonly tool: SearchTool;
  readonly isCalled: boolean;
}

/**
 * Writes the tools of a request in the form that backends expect. Functions of other interfaces are
 * converted, tools of the service itself are removed, and a choice object that has only a type becomes a
 * string. Schemas of functions keep their bytes. An offered tool is appended to the client's. After its call
 * it is kept only if it is the only tool, since chat templates require the called tool to be defined.
 */
export function setTools(
  members: Map<string, string>,
  { tools, tool_choice: choice }: ChatRequest,
  offered?: AddedTool,
): void {
  const text = choice && choiceText(choice);
  if (text !== undefined && text !== null) members.set('tool_choice', text);
  if (!tools && !offered) return;
  const texts = jsonElements(members.get('tools') ?? '[]').flatMap(toolText);
  const isOnly = texts.length === 0;
  if (offered && (isOnly || !offered.isCalled)) texts.push(JSON.stringify(offered.tool));
  if (offered?.isCalled === true && isOnly) members.set('tool_choice', '"none"');
  if (texts.length > 0) members.set('tools', `[${texts.join(',')}]`);
  // Backends reject a choice without tools.
  else for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) members.delete(name);
}

/** A tool as JSON; empty for a tool of the service itself. */
function toolText(text: string): string[] {
  const tool = jsonMembers(text);
  if (SERVER_TOOLS.has(boundedJson(tool.get('type') ?? 'null'))) return [];
  if (tool.has('function') || tool.has('custom')) return [text];
  const definition = new Map<string, string>();
  for (const [name, value] of tool)
    if (name !== 'type') definition.set(name === 'input_schema' ? 'parameters' : name, value);
  return [`{"type":"function","function":${jsonObject(definition)}}`];
}

/** The converted choice; undefined if it stays as it is. */
function choiceText(choice: ToolChoice): string | undefined {
  if (typeof choice === 'string') return undefined;
  if ('name' in choice) return JSON.stringify({ type: 'function', function: { name: choice.name } });
  return 'function' in choice || 'custom' in choice || 'allowed_tools' in choice
    ? undefined
    : JSON.stringify(choice.type);
}
