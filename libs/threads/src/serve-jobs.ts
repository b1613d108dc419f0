import { parentPort } from 'node:worker_threads';
import { reasonOf } from './job-failed.js';

/** The reply of a thread to a job: exactly one of these. */
export type JobOutcome<Value> = { readonly value: Value } | { readonly refused: string };

/** Makes this thread part of a pool: `work` handles each job that arrives, one at a time. */
export function serveJobs<Job, Value>(work: (job: Job) => Value | Promise<Value>): void {
  const response = async (job: Job): Promise<JobOutcome<Value>> => {
    try {
      return { value: await work(job) };
    } catch (error) {
      return { refused: reasonOf(error) };
    }
  };
  parentPort?.on('message', (job: Job) => {
    // `answer` never rejects, and a thread that can't post has lost its parent.
    void response(job).then((reply) => parentPort?.postMessage(reply));
  });
}
