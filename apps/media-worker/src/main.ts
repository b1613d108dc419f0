import { runBundled } from '@svc/runtime/prelude';

await runBundled(import.meta.dirname, process.env);
