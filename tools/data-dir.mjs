import { join, resolve } from 'node:path';

/** The folder for the data of what runs on this machine; a relative SVC_DATA_DIR starts at the workspace. */
export const dataDir = resolve(join(import.meta.dirname, '..'), process.env.SVC_DATA_DIR ?? '.svc');
