import 'reflect-metadata';
import { type Environment, runProcess } from '@svc/runtime';
import { settings, start } from './start.js';

/** Every service in one process. */
export const run = (env: Environment): Promise<void> => runProcess(env, { settings, start });
