// The whole platform in one process, with a dialect of backends that it does not ship, in place of that of
// one kind. Everything else is as it is.
import 'reflect-metadata';
import { DIALECTS } from '@svc/router';
import { eventDialect } from '@svc/router/event-dialect';
import { runProcess } from '@svc/runtime';
import { settings, start } from '../dist/start.js';

DIALECTS['llama-cpp-python'] = eventDialect;

await runProcess(process.env, { settings, start });
