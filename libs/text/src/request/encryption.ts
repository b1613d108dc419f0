import { ECDH } from 'node:crypto';
import type { Model } from '@svc/catalog';
import type { ChatRequest, Message, SvcParametersEcho } from '@svc/api/chat';
import type { EncryptionKeys } from '@svc/contracts/messages';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import { ALGORITHM, CLIENT_KEY, type EncryptionHeaders, MODEL_KEY, faultyHeaders } from '@svc/api/tee';
import { isCiphertext, isHex } from '../tokens/ciphertext.js';
import type { ThinkingPlan } from './thinking-plan.js';

interface EncryptedRequest {
  readonly request: ChatRequest;
  readonly headers: EncryptionHeaders | undefined;
  readonly model: Model;
  readonly parameters: SvcParametersEcho;
  readonly thinking: ThinkingPlan;
}

/**
 * The keys of a request whose texts are encrypted; undefined for one in plaintext. Refuses INVALID_REQUEST:
 * a faulty header, a text in plaintext, and each field that needs the plaintext or would carry some.
 */
export function planEncryption(chat: EncryptedRequest): EncryptionKeys | undefined {
  const { request, headers, model } = chat;
  if (!headers || request.svc_parameters?.enable_e2ee === false) return undefined;
  if (!model.capabilities.supportsE2EE) throw faultyHeaders(`${model.id} does not support encryption`);
  const algorithm = headers[ALGORITHM];
  if (algorithm?.toLowerCase() !== 'ecdsa') throw faultyHeaders(`${ALGORITHM} must be ecdsa`);
  const keys = { clientKey: publicKey(CLIENT_KEY, headers), modelKey: publicKey(MODEL_KEY, headers) };
  const issues = [...fieldIssues(chat), ...request.messages.flatMap(messageIssues)];
  if (issues.length > 0) throw invalidRequest(issues);
  return keys;
}

/** Refuses a request of another endpoint that demands encryption in its body. Refuses: INVALID_REQUEST. */
export function refuseEncryption({ svc_parameters: parameters }: ChatRequest): void {
  if (parameters?.enable_e2ee !== true) return;
  const path = ['svc_parameters', 'enable_e2ee'];
  const message = 'Encryption works only with POST /api/v1/chat/completions';
  throw invalidRequest([{ code: 'custom', path, message }]);
}

/** The options in effect for an encrypted request. */
export function encryptedParameters(parameters: SvcParametersEcho): SvcParametersEcho {
  return { ...parameters, enable_e2ee: true, include_venice_system_prompt: false };
}

/** As 130 lower-case digits. Clients may leave out the first byte, and put `0x` before the digits. */
function publicKey(name: typeof CLIENT_KEY | typeof MODEL_KEY, headers: EncryptionHeaders): string {
  const [, digits = ''] = /^(?:0x)?(?:04)?([0-9a-f]{128})$/i.exec(headers[name] ?? '') ?? [];
  try {
    return String(ECDH.convertKey(`04${digits.toLowerCase()}`, 'secp256k1', 'hex', 'hex', 'uncompressed'));
  } catch {
    throw faultyHeaders(`${name} must be an uncompressed public key on secp256k1, in 128 or 130 hex digits`);
  }
}

/** Fields of which no value but these works with encryption. */
const UNREADABLE = 'does not work with encryption, because the service cannot read the texts';
const READABLE = 'is not encrypted, and would carry texts that anyone can read';

/** Fields of vLLM that put texts, or their tokens, into responses. */
const OF_BACKENDS = ['echo', 'prompt_logprobs', 'return_token_ids', 'return_tokens_as_token_ids'];

function fieldIssues({ request, parameters, model, thinking }: EncryptedRequest): Issue[] {
  const issues: Issue[] = [];
  const refuse = (isFaulty: boolean, path: string, message: string): void => {
    if (isFaulty) issues.push({ code: 'custom', path: path.split('.'), message });
  };
  refuse(request.stream !== true, 'stream', 'E2EE requires streaming');
  refuse((request.tools?.length ?? 0) > 0, 'tools', READABLE);
  refuse((request.response_format ?? { type: 'text' }).type !== 'text', 'response_format', READABLE);
  refuse(request.logprobs === true, 'logprobs', READABLE);
  refuse((request.top_logprobs ?? 0) > 0, 'top_logprobs', READABLE);
  for (const name of OF_BACKENDS)
    refuse(request[name] !== undefined && request[name] !== null && request[name] !== false, name, READABLE);
  const { enable_web_search: search, disable_thinking: withoutThinking } = parameters;
  refuse(search !== 'off', 'svc_parameters.enable_web_search', UNREADABLE);
  refuse(parameters.enable_web_scraping, 'svc_parameters.enable_web_scraping', UNREADABLE);
  refuse(parameters.enable_x_search, 'svc_parameters.enable_x_search', UNREADABLE);
  refuse(parameters.character_slug !== undefined, 'svc_parameters.character_slug', UNREADABLE);
  refuse(parameters.strip_thinking_response, 'svc_parameters.strip_thinking_response', UNREADABLE);
  // Without a member for it, reasoning is switched off by a word in the last message, or removed.
  const { off } = model.reasoning ?? {};
  const isByMember = off !== undefined && 'members' in off;
  refuse(withoutThinking && !isByMember, 'svc_parameters.disable_thinking', UNREADABLE);
  const asksOff = thinking.off && !withoutThinking && off !== undefined && !isByMember;
  refuse(asksOff, request.reasoning_effort ? 'reasoning_effort' : 'reasoning', UNREADABLE);
  return issues;
}

/** Members of a message that no backend decrypts. */
const READABLE_MEMBERS = ['refusal', 'reasoning_details', 'thought_signature', 'tool_calls'];

/** Members of a message that backends decrypt. */
const TEXTS = ['content', 'reasoning_content', 'reasoning'];

function messageIssues(message: Message, index: number): Issue[] {
  const members: Readonly<Record<string, unknown>> = { ...message };
  const issue = (name: string, fault: string): Issue[] => [
    { code: 'custom', path: ['messages', index, name], message: fault },
  ];
  return [
    ...TEXTS.flatMap((name) => {
      const fault = textFault(members[name]);
      return fault === undefined ? [] : issue(name, fault);
    }),
    ...READABLE_MEMBERS.flatMap((name) => (hasText(members[name]) ? issue(name, READABLE) : [])),
  ];
}

function textFault(text: unknown): string | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  if (typeof text !== 'string') return 'must be one encrypted text; parts do not work with encryption';
  if (!isHex(text)) return 'Encrypted field is not valid hex';
  return isCiphertext(text)
    ? undefined
    : 'is too short for a ciphertext, or does not begin with a public key';
}

function hasText(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  );
}
