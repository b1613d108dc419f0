import type { Message } from '@svc/api/chat';

/**
 * Why a strict server refuses a conversation; undefined if it accepts it. A system message is first and
 * alone. A message with calls is followed by one result for each of them, and by nothing else before. No
 * result is anywhere else.
 */
export function strictFault(messages: readonly Message[]): string | undefined {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const fault = (why: string): string => `messages.${at}: ${why}`;
    const { role } = message;
    if (role === 'developer') return fault('unknown role');
    if (role === 'system' && at > 0) return fault('a system message must be first');
    if (role === 'tool') {
      if (!open.delete(message.tool_call_id)) return fault(`no open call has the id ${message.tool_call_id}`);
      continue;
    }
    if (open.size > 0) return fault(`calls without a result: ${[...open].join(', ')}`);
    if (role !== 'assistant') continue;
    const ids = (message.tool_calls ?? []).map(({ id }) => id ?? '');
    open = new Set(ids);
    if (open.size < ids.length) return fault('two calls have the same id');
    if (message.tool_calls?.length === 0) return fault('tool_calls must not be empty');
  }
  return open.size > 0 ? `calls without a result at the end: ${[...open].join(', ')}` : undefined;
}

/** Whether two messages of users, or two of the assistant, follow one another. */
export function alternates(messages: readonly Message[]): boolean {
  const roles = messages.map(({ role }) => role).filter((role) => role === 'user' || role === 'assistant');
  return roles.every((role, at) => role !== roles[at - 1]);
}
