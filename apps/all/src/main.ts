import 'reflect-metadata';
import { runProcess } from '@svc/runtime';
import { settings, start } from './start.js';

await runProcess(process.env, { settings, start });
