import type { Output } from './environments.js';

interface Outcome {
  readonly name: string;
  /** `null` if it passed. */
  readonly fault: string | null;
}

/** The results of a Python client, by scenario. */
export function outcomesOf(output: Output | undefined): Outcome[] {
  const lines = output?.stdout.split('\n').filter((line) => line.startsWith('RESULT ')) ?? [];
  return lines.map((line) => JSON.parse(line.slice('RESULT '.length)) as Outcome);
}

/** The error of one of them. */
export function faultOf(scenario: string, output: Output | undefined): string | undefined {
  const outcome = outcomesOf(output).find(({ name }) => name === scenario);
  return outcome ? (outcome.fault ?? undefined) : `it did not run:\n${output?.stdout}${output?.stderr}`;
}
