import { CompletionRequest } from '@svc/api/completions';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import type { JsonText } from '@svc/runtime';
import { elementsOf, listPart, membersOf, objectPart, partOf } from '@svc/paid/json';
import { type TranslatedRequest, translated, unknownMembersOf } from '@svc/text/request';

/** OpenAI's default for completions. */
const DEFAULT_TOKENS = 16;

/** Members that have another name or form in chat completions. */
const OTHERS: ReadonlySet<string> = new Set([
  'prompt',
  'echo',
  'suffix',
  'best_of',
  'logprobs',
  'max_tokens',
]);

const unknownMembers = unknownMembersOf(CompletionRequest.shape);

/** A completion as a chat completion with one message, its prompt. Refuses: INVALID_REQUEST. */
export async function chatRequestFor(request: CompletionRequest, json: JsonText): Promise<TranslatedRequest> {
  refuseConflicts(request);
  const members = membersOf({ value: request, text: json.text });
  const prompt = members.get('prompt');
  const content = prompt && (elementsOf(prompt)[0] ?? prompt);
  const message = objectPart([
    ['role', partOf('user')],
    ['content', content],
  ]);
  const { logprobs } = request;
  const wants = logprobs !== null && logprobs !== undefined;
  const same = Object.keys(CompletionRequest.shape).filter((name) => !OTHERS.has(name));
  const chat = objectPart([
    ...unknownMembers(members),
    ...same.map((name) => [name, members.get(name)] as const),
    ['messages', listPart([message])],
    ['max_tokens', partOf(request.max_tokens ?? DEFAULT_TOKENS)],
    ['logprobs', wants ? partOf(true) : undefined],
    ['top_logprobs', wants && logprobs > 0 ? partOf(logprobs) : undefined],
  ]);
  return translated(json, chat, originOf);
}

/** Refuses what only a server that scores or ranks texts can do. */
function refuseConflicts({ best_of: best, n, echo, logprobs }: CompletionRequest): void {
  const issues: Issue[] = [];
  const refuse = (name: string, message: string): void =>
    void issues.push({ code: 'custom', path: [name], message });
  if ((best ?? n ?? 1) !== (n ?? 1))
    refuse('best_of', 'best_of is not offered; leave it out, or set it to n');
  if (echo === true && logprobs !== null && logprobs !== undefined)
    refuse('logprobs', 'The tokens of a prompt have no log probabilities here; leave out echo or logprobs');
  if (issues.length > 0) throw invalidRequest(issues);
}

function originOf([first, ...rest]: Issue['path']): Issue['path'] {
  if (first === 'messages') return ['prompt'];
  return first === 'top_logprobs' ? ['logprobs'] : [...(first === undefined ? [] : [first]), ...rest];
}
