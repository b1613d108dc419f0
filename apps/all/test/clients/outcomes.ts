import type { Output } from './environments.js';

interface Outcome {
  readonly name: string;
  /** `null` where all went as it should. */
  readonly fault: string | null;
}

/** What a client in Python says of its scenarios. */
export function outcomesOf(output: Output | undefined): Outcome[] {
  const lines = output?.stdout.split('\n').filter((line) => line.startsWith('RESULT ')) ?? [];
  return lines.map((line) => JSON.parse(line.slice('RESULT '.length)) as Outcome);
}

/** What went wrong in one of them. */
export function faultOf(scenario: string, output: Output | undefined): string | undefined {
  const outcome = outcomesOf(output).find(({ name }) => name === scenario);
  return outcome ? (outcome.fault ?? undefined) : `it did not run:\n${output?.stdout}${output?.stderr}`;
}
