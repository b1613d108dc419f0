export { FairQueue } from './fair-queue.js';
export { serveJobs } from './serve-jobs.js';
export { DAMAGED, JobFailed, type JobFailure, TOO_COMPLEX, Unreadable } from './job-failed.js';
export { type JobCaller, type ThreadBounds, ThreadPool } from './thread-pool.js';
