import { prepare } from '@svc/runtime/prelude';

prepare(import.meta.dirname);
const { run } = await import('./run.js');
await run(process.env);
