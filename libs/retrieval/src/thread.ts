// What a thread of the pool runs: one file after the other.
import { answerJobs } from '@svc/threads';
import { extractText } from './documents/extract-text.js';

answerJobs(extractText);
