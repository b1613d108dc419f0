import { signal } from '@preact/signals';
import { CallError } from '../api/call-error.js';

interface OpenProof {
  readonly done: () => void;
  readonly refused: (error: Error) => void;
}

/** The question for a new proof that is open, if any. */
export const openProof = signal<OpenProof | undefined>(undefined);

/**
 * Does something that may need a new proof of who is there. If it does, the reader is asked for one, and
 * it is done again.
 */
export async function withProof<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'STEP_UP_REQUIRED') throw error;
    const question = Promise.withResolvers<void>();
    openProof.value = { done: question.resolve, refused: question.reject };
    try {
      await question.promise;
    } finally {
      openProof.value = undefined;
    }
    return action();
  }
}
