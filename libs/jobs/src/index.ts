export { JobNotStored } from './bull-jobs.js';
export { type JobRun, type JobTimes, type JobWorker, JobWorkers } from './job-workers.js';
export { JobsModule, type JobsConfig } from './jobs.module.js';
