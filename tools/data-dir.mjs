import { join, resolve } from 'node:path';

/** The data folder of local processes; a relative SVC_DATA_DIR starts at the workspace. */
export const dataDir = resolve(join(import.meta.dirname, '..'), process.env.SVC_DATA_DIR ?? '.svc');
