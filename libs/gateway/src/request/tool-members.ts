import type { ChatRequest, ToolChoice } from '@svc/contracts';
import type { SearchTool } from '../web/search-tool.js';
import { jsonElements, jsonMembers, jsonObject } from '../json/json-members.js';

/** Tools of the service itself are switched on by its own parameters. */
const SERVER_TOOLS: ReadonlySet<unknown> = new Set(['web_search', 'x_search']);

/** A tool of the service that a model is offered, or has called. */
export interface OfferedTool {
  readonly tool: SearchTool;
  readonly isCalled: boolean;
}

/**
 * Puts the tools of a request as backends know them: functions in the forms of other interfaces become those of this
 * one, tools of the service itself are left out, and a choice that is an object with nothing but a word becomes that
 * word. The schemas of functions keep the bytes they came in. A tool that is offered comes behind the client's; once
 * called it is there no more, but where it is the only one, since templates want the tool of a call to be known.
 */
export function tellTools(
  members: Map<string, string>,
  { tools, tool_choice: choice }: ChatRequest,
  offered?: OfferedTool,
): void {
  const text = choice && choiceText(choice);
  if (text !== undefined && text !== null) members.set('tool_choice', text);
  if (!tools && !offered) return;
  const told = jsonElements(members.get('tools') ?? '[]').flatMap(toolText);
  const isOnly = told.length === 0;
  if (offered && (isOnly || !offered.isCalled)) told.push(JSON.stringify(offered.tool));
  if (offered?.isCalled === true && isOnly) members.set('tool_choice', '"none"');
  if (told.length > 0) members.set('tools', `[${told.join(',')}]`);
  // A choice among no tools is refused by backends.
  else for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) members.delete(name);
}

/** A tool as JSON; nothing for one of the service itself. */
function toolText(text: string): string[] {
  const tool = jsonMembers(text);
  if (SERVER_TOOLS.has(JSON.parse(tool.get('type') ?? 'null'))) return [];
  if (tool.has('function') || tool.has('custom')) return [text];
  const definition = new Map<string, string>();
  for (const [name, value] of tool)
    if (name !== 'type') definition.set(name === 'input_schema' ? 'parameters' : name, value);
  return [`{"type":"function","function":${jsonObject(definition)}}`];
}

/** What becomes of a choice; nothing where it stays as it is. */
function choiceText(choice: ToolChoice): string | undefined {
  if (typeof choice === 'string') return undefined;
  if ('name' in choice) return JSON.stringify({ type: 'function', function: { name: choice.name } });
  return 'function' in choice || 'custom' in choice || 'allowed_tools' in choice
    ? undefined
    : JSON.stringify(choice.type);
}
