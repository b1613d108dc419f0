import { mediaJobsConformance } from '../test/media-jobs.conformance.js';

mediaJobsConformance('LocalMediaJobs', (port) => Promise.resolve({ port, stop: () => Promise.resolve() }));
