import type { Fields } from '@svc/contracts/inference';

/** A call of a model, with the signature that some providers give it. */
export interface UtteredCall {
  readonly id: string;
  readonly name: string;
  readonly input: Fields;
  readonly signature: string;
}

/** What a model says in one response. */
export interface Utterance {
  readonly thoughts: readonly { readonly text: string; readonly signature: string }[];
  readonly text: string;
  readonly calls: readonly UtteredCall[];
}

/** The tokens of a call, each in one of these counts only. */
export interface TrueCounts {
  readonly fresh: number;
  readonly read: number;
  /** Written to the cache for minutes, and for an hour. */
  readonly written: number;
  readonly writtenForHour: number;
  readonly reasoning: number;
  readonly output: number;
}

/** How a provider writes responses and usage, and what a request in its form says. */
export interface ChatForm {
  /** What the form has a place for. */
  readonly has: {
    readonly ids: boolean;
    readonly signedThoughts: boolean;
    readonly signedCalls: boolean;
    readonly counts: readonly (keyof TrueCounts)[];
  };
  readonly usage: (counts: TrueCounts) => Fields;
  readonly stream: (utterance: Utterance, usage: Fields) => Buffer;
  readonly whole: (utterance: Utterance, usage: Fields) => string;
  /** The system's instructions, texts, images, reasoning, calls and results of a request, in their order. */
  readonly lines: (request: Fields) => string[];
}

export const fieldsIn = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as Fields[]) : [];
export const membersIn = (value: unknown): Fields => (value ?? {}) as Fields;

/** The parts of a text that are sent one after the other. */
export function partsOf(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((part) => part !== '');
}

/** The lines of a conversation. */
export const LINE = {
  system: (text: unknown): string => `system: ${String(text)}`,
  text: (role: unknown, text: unknown): string => `${String(role)}: ${String(text)}`,
  image: (type: unknown, data: unknown): string => `image: ${String(type)} ${String(data)}`,
  thought: (text: unknown, signature: unknown): string => `thought: ${String(text)} ${String(signature)}`,
  call: ({ id, name, input, signature }: Readonly<Record<keyof UtteredCall, unknown>>): string =>
    `call: ${String(id)} ${String(name)} ${JSON.stringify(input)} ${String(signature)}`,
  result: (call: unknown, text: unknown): string => `result of ${String(call)}: ${String(text)}`,
};
