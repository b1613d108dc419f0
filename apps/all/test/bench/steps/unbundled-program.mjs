// This service from its compiled modules instead of its bundle, so that a profile names the file of each
// function.
import { run } from '../../../dist/run.js';

await run(process.env);
