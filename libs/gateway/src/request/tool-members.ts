import type { ChatRequest } from '@svc/contracts';

/**
 * Puts the tools of a request as backends know them: tools of the service itself are left out, since they are
 * switched on by its own parameters, and a choice that is an object with nothing but a word becomes that word.
 */
export function tellTools(members: Map<string, string>, request: ChatRequest): void {
  const { tools, tool_choice: choice } = request;
  if (choice !== null && typeof choice === 'object' && !('function' in choice)) {
    members.set('tool_choice', JSON.stringify(choice.type));
  }
  const functions = tools?.filter((tool) => 'function' in tool);
  if (!tools || !functions || functions.length === tools.length) return;
  if (functions.length > 0) {
    members.set('tools', JSON.stringify(functions));
    return;
  }
  // A choice among no tools is refused by backends.
  for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) members.delete(name);
}
