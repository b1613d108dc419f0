import { parentPort } from 'node:worker_threads';
import { reasonOf } from './job-failed.js';

/** What a thread posts for each job: exactly one of these. */
export type Answer<Value> = { readonly value: Value } | { readonly refused: string };

/** Makes this thread one of a pool: each job that arrives is answered by `work`, one at a time. */
export function answerJobs<Job, Value>(work: (job: Job) => Value | Promise<Value>): void {
  const answer = async (job: Job): Promise<Answer<Value>> => {
    try {
      return { value: await work(job) };
    } catch (error) {
      return { refused: reasonOf(error) };
    }
  };
  parentPort?.on('message', (job: Job) => {
    // `answer` never rejects, and a thread that can't post has lost its parent.
    void answer(job).then((reply) => parentPort?.postMessage(reply));
  });
}
