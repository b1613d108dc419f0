// What a thread of the pool runs: one file after the other.
import { parentPort } from 'node:worker_threads';
import { extractText } from '../documents/extract-text.js';
import { inspectImage } from '../images/image.js';
import { type Answer, DAMAGED, type Job, TOO_COMPLEX, Unreadable } from '../job/job.js';

async function answer(job: Job): Promise<Answer> {
  try {
    switch (job.kind) {
      case 'text':
        return { kind: 'text', value: await extractText(job) };
      case 'image':
        return { kind: 'image', value: await inspectImage(job) };
    }
  } catch (error) {
    return { kind: 'refused', reason: reasonOf(error) };
  }
}

/** What libraries throw says nothing to a client; running out of stack or buffers does. */
function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.reason;
  return error instanceof RangeError ? TOO_COMPLEX : DAMAGED;
}

parentPort?.on('message', (job: Job) => {
  // `answer` never rejects, and a thread that can't post has lost its parent.
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
